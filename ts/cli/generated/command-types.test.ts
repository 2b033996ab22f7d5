import { expect, test } from 'bun:test'
import type { CommandName, CommandParams, CommandResult } from '@backlot/contract/computer'
import { computer } from '@backlot/contract/computer'
import type { Commands } from '@backlot/sdk'
import { typeOf } from './command-types.ts'

/** What the declarations say, which TypeScript compares with what is written of them. */
type Declared = {
  [Name in CommandName]: { readonly params: CommandParams<Name>; readonly result: CommandResult<Name> }
}

test('the types that the SDK is published with are those of the declarations', () => {
  const written = (commands: Declared): Commands => commands
  const declared = (commands: Commands): Declared => commands
  expect([written, declared]).toHaveLength(2)
  expect(Object.keys(computer)).not.toHaveLength(0)
})

test('a schema that nobody has a type for is refused', () => {
  expect(typeOf({ type: 'string', enum: ['a', 'b'] })).toBe('"a" | "b"')
  expect(() => typeOf({ type: 'date' })).toThrow('no type for {"type":"date"}')
})
