import { describe, expect, test } from 'bun:test'
import { placesOf } from './places.ts'

describe('placesOf', () => {
  test('follows the XDG folders', () => {
    expect(placesOf({ HOME: '/home/ada', XDG_CONFIG_HOME: '/etc/ada', XDG_RUNTIME_DIR: '/run/user/7' })).toEqual({
      config: '/etc/ada/backlot',
      data: '/home/ada/.local/share/backlot',
      cache: '/home/ada/.cache/backlot',
      state: '/home/ada/.local/state/backlot',
      runtime: '/run/user/7/backlot',
    })
  })

  test('puts sockets in the state folder where the session gives no runtime folder', () => {
    expect(placesOf({ HOME: '/home/ada' }).runtime).toBe('/home/ada/.local/state/backlot/run')
  })

  test('ignores relative XDG values', () => {
    expect(placesOf({ HOME: '/home/ada', XDG_CACHE_HOME: 'cache' }).cache).toBe('/home/ada/.cache/backlot')
  })

  test('moves everything under BACKLOT_HOME', () => {
    expect(placesOf({ HOME: '/home/ada', XDG_DATA_HOME: '/data', BACKLOT_HOME: '/srv/set/' })).toEqual({
      config: '/srv/set/config',
      data: '/srv/set/data',
      cache: '/srv/set/cache',
      state: '/srv/set/state',
      runtime: '/srv/set/runtime',
    })
  })

  test('refuses a relative BACKLOT_HOME and an environment without a home', () => {
    expect(() => placesOf({ HOME: '/home/ada', BACKLOT_HOME: 'set' })).toThrow('BACKLOT_HOME is "set"')
    expect(() => placesOf({})).toThrow('HOME is not set')
  })
})
