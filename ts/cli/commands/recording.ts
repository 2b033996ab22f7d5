/** `backlot recording`: what `start_recording` left, as a film or as a page. */
import { writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'
import type { Format } from '../recording/export.ts'
import { print, say } from '../terminal/output.ts'

export const command: Command = {
  summary: 'Show a recording, or export it as a film.',
  usage: `backlot recording view DIR [--out FILE] [--no-open]
backlot recording export DIR [--format mp4|gif] [--out FILE]

DIR is the output_dir of start_recording.
\`view\` writes one page, DIR/view.html: the turns with picture, tree, arguments and result, and the film in step. It
opens the page where a browser can be.
\`export\` writes DIR/export.mp4 or .gif with ffmpeg: the film, or without one the screenshots, with what was pressed,
typed and clicked written into it.

  --out FILE         Write there instead.
  --format FORMAT    mp4, which is usual, or gif.
  --no-open          Only write the page.`,
  async run(args) {
    const [verb, ...rest] = args
    if (verb === 'view') return view(rest)
    if (verb === 'export') return exportAs(rest)
    throw new Failure('usage', 'Call it as `backlot recording view DIR` or `backlot recording export DIR`.')
  },
}

const folderOf = (verb: string, positionals: readonly string[]): string => {
  const [folder, ...more] = positionals
  if (folder !== undefined && more.length === 0) return folder
  throw new Failure('usage', `\`backlot recording ${verb}\` needs one folder: the output_dir of start_recording.`)
}

const view = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = readFlags('recording view', {
    args: [...args],
    allowPositionals: true,
    options: { out: { type: 'string' }, 'no-open': { type: 'boolean' } },
  })
  const [{ readRecording }, { viewOf }] = await Promise.all([
    import('../recording/recorded.ts'),
    import('../recording/view.ts'),
  ])
  const recorded = readRecording(folderOf('view', positionals))
  const target = resolve(values.out ?? `${recorded.folder}/view.html`)
  try {
    writeFileSync(target, viewOf(recorded, dirname(target)), { mode: 0o600 })
  } catch (error) {
    throw new Failure(
      'film_not_exported',
      `The page cannot be written to "${target}": ${Failure.from(error).message}. Name another file with \`--out\`.`,
      { path: target },
    )
  }
  await print(target)
  if (values['no-open'] !== true) await open(target)
  return 0
}

/** Hands the page to the desktop's own opener; without a desktop or an opener its path has been printed. */
const open = async (path: string): Promise<void> => {
  const opener = Bun.which(process.platform === 'darwin' ? 'open' : 'xdg-open')
  const hasDesktop = process.platform === 'darwin' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY
  if (opener === null || !hasDesktop) {
    await say('note: there is no browser to open it in here')
    return
  }
  Bun.spawn([opener, path], { detached: true, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref()
}

const exportAs = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = readFlags('recording export', {
    args: [...args],
    allowPositionals: true,
    options: { out: { type: 'string' }, format: { type: 'string' } },
  })
  const [{ readRecording }, { exportFilm, formats }] = await Promise.all([
    import('../recording/recorded.ts'),
    import('../recording/export.ts'),
  ])
  const recorded = readRecording(folderOf('export', positionals))
  const format = values.format ?? 'mp4'
  if (!formats.includes(format as Format)) {
    throw new Failure('usage', `"${format}" is no format of a film. Use ${formats.join(' or ')}.`)
  }
  const target = resolve(values.out ?? `${recorded.folder}/export.${format}`)
  for (const note of await exportFilm(recorded, format as Format, target)) await say(`note: ${note}`)
  await print(target)
  return 0
}
