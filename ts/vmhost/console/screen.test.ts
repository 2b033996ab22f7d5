import { describe, expect, test } from 'bun:test'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { screenOf } from './screen.ts'

describe('the screen of a VM', () => {
  const vm = { name: 'web', status: 'running', vncUrl: 'vnc://:abc-12@127.0.0.1:5901' } as Vm

  test('is where its record says', () => {
    expect(screenOf(vm)).toEqual({ hostname: '127.0.0.1', port: 5901 })
  })

  test('is refused with the reason where there is none', () => {
    for (const [changed, why] of [
      [{ status: 'stopped', vncUrl: null }, 'it is stopped'],
      [{ vncUrl: null }, 'without a display'],
    ] as const) {
      expect(() => screenOf({ ...vm, ...changed } as Vm)).toThrow(why)
    }
  })
})
