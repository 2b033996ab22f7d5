import { expect, test } from 'bun:test'
import { displayName } from '@backlot/contract/display'
import { busName, defaultSocket, socketPath } from './address.ts'

test('two spellings of a display are one daemon', () => {
  expect([':1', ':1.0', 'unix:1', 'unix:1.2'].map((DISPLAY) => displayName({ DISPLAY }))).toEqual([
    ':1',
    ':1',
    ':1',
    ':1',
  ])
  expect(displayName({ DISPLAY: 'far:1.0' })).toBe('far:1')
  expect(displayName({})).toBe('')
})

test('the socket names the display', () => {
  const env = { XDG_RUNTIME_DIR: '/run/user/7', HOME: '/home/a' }
  expect(defaultSocket({ ...env, DISPLAY: ':12.0' })).toBe('/run/user/7/backlot/driver-12.sock')
  expect(defaultSocket({ ...env, DISPLAY: 'far/x:1' })).toBe('/run/user/7/backlot/driver-far_x_1.sock')
  expect(defaultSocket(env)).toBe('/run/user/7/backlot/driver-no-display.sock')
})

test('the guid of a bus is not part of its name', () => {
  expect(busName({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/tmp/b,guid=0a1b' })).toBe('unix:path=/tmp/b')
})

test('a path that no socket can have is refused by name', () => {
  expect(() => socketPath(`/tmp/${'x'.repeat(110)}`)).toThrow('115 bytes')
})
