/** The variables that lead a program to the private desktop, and to nothing of the desktop that it was started from. */
import type { Variables } from '@backlot/contract/places'

/** Belongs to the surrounding session: the addresses of its display, buses and input methods, and what its shell set. */
const surrounding =
  /^(?:WAYLAND_.*|DISPLAY|XAUTHORITY|WINDOWID|SESSION_MANAGER|DESKTOP_.*|XDG_(?:SESSION_.*|CURRENT_DESKTOP|ACTIVATION_TOKEN|SEAT.*|VTNR|MENU_PREFIX)|DBUS_.*|AT_SPI_.*|NO_AT_BRIDGE|GNOME_.*|KDE_.*|GTK_(?:MODULES|IM_MODULE|USE_PORTAL)|GDK_.*|QT_(?:QPA_.*|IM_MODULE|ACCESSIBILITY|SCALE_FACTOR|SCREEN_SCALE_FACTORS|AUTO_SCREEN_SCALE_FACTOR)|CLUTTER_.*|SDL_VIDEODRIVER|MOZ_ENABLE_WAYLAND|ELECTRON_OZONE_PLATFORM_HINT|XMODIFIERS|GIO_LAUNCHED_.*|INVOCATION_ID|JOURNAL_STREAM|NOTIFY_SOCKET|LISTEN_(?:FDS|PID|FDNAMES))$/

/** What is known of the desktop. */
export interface DesktopAddresses {
  /** Such as `:5`. */
  readonly display: string
  /** The Xauthority file. */
  readonly authority: string
  /** `XDG_RUNTIME_DIR`. */
  readonly runtime: string
}

/** Variables of the desktop alone, without the address of its session bus, which is known last. */
export const desktopVariables = ({ display, authority, runtime }: DesktopAddresses) => ({
  DISPLAY: display,
  XAUTHORITY: authority,
  XDG_RUNTIME_DIR: runtime,
  XDG_SESSION_TYPE: 'x11',
  GDK_BACKEND: 'x11',
  QT_QPA_PLATFORM: 'xcb',
  GNOME_ACCESSIBILITY: '1',
  QT_ACCESSIBILITY: '1',
  QT_LINUX_ACCESSIBILITY_ALWAYS_ON: '1',
  // A FUSE mount in the runtime folder would outlive the desktop.
  GVFS_DISABLE_FUSE: '1',
})

/** Names of the inherited variables that must not reach a program on the private desktop. */
export const foreignVariables = (inherited: Variables): string[] =>
  Object.keys(inherited).filter((name) => surrounding.test(name))

/** `inherited` without the surrounding session, and with a UTF-8 locale where it names no locale at all. */
export const withoutSession = (inherited: Variables): Record<string, string> => {
  const kept = Object.entries(inherited).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !surrounding.test(entry[0]),
  )
  const env = Object.fromEntries(kept)
  const hasLocale = ['LC_ALL', 'LC_CTYPE', 'LANG'].some((name) => env[name] !== undefined && env[name] !== '')
  return hasLocale ? env : { ...env, LANG: 'C.UTF-8' }
}
