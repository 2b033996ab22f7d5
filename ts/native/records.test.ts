import { expectTypeOf, test } from 'bun:test'
import type { Rect, Window } from '@backlot/contract/desktop'
import type * as Binding from './binding.d.ts'

test('the records of the native core are those of the contract, field by field', () => {
  expectTypeOf<Binding.Rect>().toEqualTypeOf<Rect>()
  expectTypeOf<Binding.Window>().toEqualTypeOf<Window>()
})
