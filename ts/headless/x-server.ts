/** The X server of a desktop: TigerVNC's, whose screen viewers see over a Unix socket, or Xvfb. */
import { basename } from 'node:path'

/** What an X server is started with. */
export interface XServerOptions {
  /** Pixels. */
  readonly width: number
  readonly height: number
  /** Whether OpenGL is offered; its libraries take 45 MB. */
  readonly glx: boolean
  /** The Xauthority file. */
  readonly authority: string
  /** Where TigerVNC's shows its screen to VNC viewers (RFB), who are asked for nothing: a Unix socket of mode 0600. */
  readonly vncSocket: string
  /** The number of its display, which then has no abstract socket; the first free one when absent. */
  readonly number?: number
}

/** Whether the server shows its screen to VNC viewers. */
export const showsScreen = (program: string): boolean => basename(program) !== 'Xvfb'

/**
 * The command that starts the server and prints the number of its display on standard output when it takes clients.
 * It is reached over its Unix sockets alone, and only with the key in the authority file. The abstract one must stay:
 * with `-displayfd` a server takes no lock and removes a socket file that is in its way, so that the abstract name is
 * all that keeps two of them from taking one number. For one that is told its number, its caller
 * holds the lock of that.
 */
export const xServerCommand = (
  program: string,
  { width, height, glx, authority, vncSocket, number }: XServerOptions,
): [string, ...string[]] => {
  const vnc = ['-rfbport', '-1', '-rfbunixpath', vncSocket, '-rfbunixmode', '0600', '-SecurityTypes', 'None']
  const screen = showsScreen(program)
    ? ['-geometry', `${width}x${height}`, '-depth', '24', ...vnc]
    : ['-screen', '0', `${width}x${height}x24`]
  return [
    program,
    ...(number === undefined ? [] : [`:${number}`]),
    ...screen,
    ...[
      '-displayfd',
      '1',
      '-auth',
      authority,
      '-nolisten',
      'tcp',
      number === undefined ? '-listen' : '-nolisten',
      'local',
    ],
    ...['-noreset', '-s', '0'],
    ...(glx ? [] : ['-extension', 'GLX']),
  ]
}
