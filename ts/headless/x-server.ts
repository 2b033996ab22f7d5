/** The X server of a desktop: TigerVNC's without its VNC, or Xvfb. */
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
}

/**
 * The command that starts the server and prints the number of its display on standard output when it takes clients.
 * It is reached over its Unix sockets alone, and only with the key in the authority file. The abstract one must stay:
 * with `-displayfd` a server takes no lock and removes a socket file that is in its way, so that the abstract name is
 * all that keeps two of them from taking one number.
 */
export const xServerCommand = (
  program: string,
  { width, height, glx, authority }: XServerOptions,
): [string, ...string[]] => {
  const screen =
    basename(program) === 'Xvfb'
      ? ['-screen', '0', `${width}x${height}x24`]
      : ['-geometry', `${width}x${height}`, '-depth', '24', '-rfbport', '-1', '-SecurityTypes', 'None']
  return [
    program,
    ...screen,
    ...['-displayfd', '1', '-auth', authority, '-nolisten', 'tcp', '-listen', 'local', '-noreset', '-s', '0'],
    ...(glx ? [] : ['-extension', 'GLX']),
  ]
}
