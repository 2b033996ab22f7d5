import { expect, test } from 'bun:test'
import { foreignVariables, withoutSession } from './environment.ts'

test('nothing leads a program back to the desktop around it', () => {
  const inherited = {
    PATH: '/usr/bin',
    HOME: '/home/ada',
    LANG: 'de_DE.UTF-8',
    DISPLAY: ':0',
    WAYLAND_DISPLAY: 'wayland-0',
    XAUTHORITY: '/home/ada/.Xauthority',
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus',
    AT_SPI_BUS_ADDRESS: 'unix:path=/run/user/1000/at-spi/bus',
    NO_AT_BRIDGE: '1',
    XDG_SESSION_TYPE: 'wayland',
    GDK_BACKEND: 'wayland',
    QT_QPA_PLATFORM: 'wayland',
    GTK_IM_MODULE: 'ibus',
    absent: undefined,
  }
  expect(withoutSession(inherited)).toEqual({ PATH: '/usr/bin', HOME: '/home/ada', LANG: 'de_DE.UTF-8' })
  expect(foreignVariables(inherited)).toContain('WAYLAND_DISPLAY')
  expect(foreignVariables(inherited)).not.toContain('HOME')
})

test('where no locale is named, programs get one that knows every character', () => {
  expect(withoutSession({}).LANG).toBe('C.UTF-8')
  expect(withoutSession({ LC_ALL: 'C' })).toEqual({ LC_ALL: 'C' })
})
