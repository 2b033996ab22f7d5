/** The picture behind the windows: on the root window, or by the program that covers it. */
import { pathToFileURL } from 'node:url'
import { Failure } from '@backlot/contract/failure'
import type { Desktop } from '@backlot/native'

/** The commands by which a desktop environment takes a picture, by what its name holds. */
const commands: readonly { readonly name: RegExp; readonly take: (file: string) => readonly string[][] }[] = [
  {
    name: /gnome|unity|budgie|pantheon|ubuntu/,
    take: (file) =>
      ['picture-uri', 'picture-uri-dark'].map((key) => [
        ...['gsettings', 'set', 'org.gnome.desktop.background', key],
        pathToFileURL(file).href,
      ]),
  },
  {
    name: /cinnamon/,
    take: (file) => [['gsettings', 'set', 'org.cinnamon.desktop.background', 'picture-uri', pathToFileURL(file).href]],
  },
  { name: /mate/, take: (file) => [['gsettings', 'set', 'org.mate.background', 'picture-filename', file]] },
  { name: /kde|plasma/, take: (file) => [['plasma-apply-wallpaperimage', file]] },
  { name: /lxqt/, take: (file) => [['pcmanfm-qt', '--set-wallpaper', file]] },
  { name: /lxde|openbox|pcmanfm/, take: (file) => [['pcmanfm', '--set-wallpaper', file]] },
  // The shell finds every monitor and workspace that has a picture.
  { name: /xfce/, take: (file) => [['sh', '-c', xfceCommand, 'sh', file]] },
]

const xfceCommand =
  'for p in $(xfconf-query -c xfce4-desktop -l | grep "/last-image$"); do xfconf-query -c xfce4-desktop -p "$p" -s "$1" || exit; done'

/** Milliseconds that such a command may take. */
const patienceMs = 10_000

/**
 * Shows a PNG or JPEG, scaled to cover the screen. Throws `invalid_argument` where it is none, and
 * `window_manager_refused` where the program that covers the root window takes no picture from us.
 */
export const setWallpaper = async (environment: string, file: string, desktop: Desktop): Promise<void> => {
  try {
    await desktop.setWallpaper(file)
  } catch (error) {
    const row = commands.find(({ name }) => name.test(environment))
    if (Failure.from(error).code !== 'window_manager_refused' || row === undefined) throw error
    for (const command of row.take(file)) await run(command, environment)
  }
}

const run = async (command: readonly string[], environment: string): Promise<void> => {
  const [program = ''] = command
  if (Bun.which(program) === null) {
    throw new Failure('missing_program', `"${program}" sets the wallpaper of "${environment}" and is not installed.`, {
      program,
    })
  }
  const options = { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe', timeout: patienceMs } as const
  const child = Bun.spawn([...command], { ...options, env: { ...process.env } })
  const [status, said] = await Promise.all([child.exited, child.stderr.text()])
  if (status === 0) return
  throw new Failure(
    'window_manager_refused',
    `"${environment}" took no wallpaper: ${said.trim() || `status ${status}`}.`,
    { environment },
  )
}
