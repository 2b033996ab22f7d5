/** A recording as a film that can be sent: its own film, else its screenshots, with what was pressed written into it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { findFfmpeg } from '@backlot/driver/recording/ffmpeg'
import { names } from '@backlot/driver/recording/folder'
import { writeWhole } from '@backlot/native/durable'
import { asSubtitles, captionsOf } from './captions.ts'
import { fileOf, type Recorded } from './recorded.ts'

/** The forms of an exported film. */
export const formats = ['mp4', 'gif'] as const

/** One of them. */
export type Format = (typeof formats)[number]

/** Seconds for which a screenshot stands where there is no film. */
const slideSeconds = 1.5

/** Pixels of the width of a GIF at most, and its pictures in a second. */
const [gifWidth, gifRate] = [960, 10]

interface Size {
  readonly width: number
  readonly height: number
}

/** Writes the film to `target`; gives what it lacks. Throws `missing_program`, `recording_not_found` and `film_not_exported`. */
export const exportFilm = async (recorded: Recorded, format: Format, target: string): Promise<readonly string[]> => {
  const ffmpeg = findFfmpeg(process.env)
  const work = mkdtempSync(join(tmpdir(), 'backlot-export-'))
  try {
    const notes: string[] = []
    const reel = recorded.film === undefined ? slides(recorded, work) : await filmOf(recorded, recorded.film, ffmpeg)
    if (recorded.film === undefined) notes.push('the recording has no film: its screenshots are shown instead')
    const canWrite = (await run(ffmpeg, ['-hide_banner', '-filters'], work)).stdout.includes(' ass ')
    if (!canWrite) notes.push('this ffmpeg cannot write captions (it has no filter "ass"): they are left out')
    writeFileSync(join(work, 'captions.ass'), asSubtitles(captionsOf(reel.turns), reel.size))
    const filters = [...reel.filters, ...(canWrite ? ['ass=captions.ass'] : []), ...look[format]].join(',')
    const made = join(work, `film.${format}`)
    const sent = ['-hide_banner', '-loglevel', 'error', '-nostdin', '-y', ...reel.input, '-filter_complex', filters]
    const { status, stderr } = await run(ffmpeg, [...sent, ...output[format], made], work)
    if (status !== 0) throw unmade(recorded.folder, stderr)
    await move(made, target)
    return notes
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const look: Readonly<Record<Format, readonly string[]>> = {
  mp4: ['crop=trunc(iw/2)*2:trunc(ih/2)*2', 'format=yuv420p'],
  gif: [
    `fps=${gifRate}`,
    `scale='min(${gifWidth},iw)':-1:flags=lanczos`,
    'split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer',
  ],
}

const output: Readonly<Record<Format, readonly string[]>> = {
  mp4: ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-movflags', '+faststart'],
  gif: [],
}

interface Reel {
  readonly input: readonly string[]
  readonly filters: readonly string[]
  readonly size: Size
  readonly turns: Parameters<typeof captionsOf>[0]
}

const filmOf = async ({ folder, turns }: Recorded, film: string, ffmpeg: string): Promise<Reel> => {
  const { stderr } = await run(ffmpeg, ['-hide_banner', '-nostdin', '-i', film], folder)
  const [, width, height] = /Video:.*?\b(\d{1,5})x(\d{1,5})\b/.exec(stderr) ?? []
  if (width === undefined) throw unmade(folder, stderr)
  return {
    input: ['-i', film],
    filters: [],
    size: { width: Number(width), height: Number(height) },
    turns: turns.map(({ action }) => ({ action, at: action.video_ms ?? action.elapsed_ms ?? 0 })),
  }
}

/** A list of pictures with their times, as ffmpeg's concat demuxer reads it. */
const slides = ({ folder, turns }: Recorded, work: string): Reel => {
  const shown = turns.flatMap((turn) => {
    const picture = fileOf(turn, names.click) ?? fileOf(turn, names.screenshot)
    return picture === undefined ? [] : [{ turn, picture, size: sizeOf(picture) }]
  })
  if (shown.length === 0) {
    throw new Failure(
      'recording_not_found',
      `"${folder}" holds neither a film nor a screenshot. There is nothing to export.`,
      { path: folder },
    )
  }
  const [width, height] = [
    Math.max(...shown.map(({ size }) => size.width)),
    Math.max(...shown.map(({ size }) => size.height)),
  ]
  const lines = shown.map(({ picture }, at) => {
    writeFileSync(join(work, `${at}.png`), picture)
    return `file '${at}.png'\nduration ${slideSeconds}`
  })
  // The demuxer passes over the time of the last, unless it is named twice.
  writeFileSync(join(work, 'slides.txt'), `${lines.join('\n')}\nfile '${shown.length - 1}.png'\n`)
  return {
    input: ['-f', 'concat', '-safe', '0', '-i', 'slides.txt'],
    filters: [
      `scale=${width}:${height}:force_original_aspect_ratio=decrease`,
      `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2`,
      'fps=10',
    ],
    size: { width, height },
    turns: shown.map(({ turn: { action } }, at) => ({ action, at: at * slideSeconds * 1_000 })),
  }
}

/** Width and height stand in the first chunk of a PNG (ISO/IEC 15948, IHDR). */
const sizeOf = (png: Buffer): Size => ({ width: png.readUInt32BE(16), height: png.readUInt32BE(20) })

const run = async (program: string, args: readonly string[], cwd: string) => {
  const child = Bun.spawn([program, ...args], { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { stdout, stderr, status }
}

/** Renamed into place; the working folder may lie on another disk. */
const move = async (from: string, to: string): Promise<void> => {
  await writeWhole(to, Bun.file(from).stream(), 0o666).catch((error) => {
    throw new Failure(
      'film_not_exported',
      `The film cannot be written to "${to}": ${Failure.from(error).message}. Name another file with \`--out\`.`,
      { path: to },
    )
  })
}

const unmade = (folder: string, stderr: string): Failure =>
  new Failure(
    'film_not_exported',
    `ffmpeg made no film of "${folder}": ${stderr.trim().split('\n').slice(-3).join(' ')}. Try another ffmpeg with FFMPEG_BIN.`,
  )
