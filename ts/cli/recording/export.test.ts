import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { exportFilm } from './export.ts'
import { readRecording } from './recorded.ts'

const folder = mkdtempSync(join(tmpdir(), 'backlot-export-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A PNG of one grey pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
)

const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work()
    return 'none'
  } catch (error) {
    return Failure.from(error).code
  }
}

test('what cannot be exported says why', async () => {
  const recording = join(folder, 'recording')
  expect(await codeOf(() => readRecording(recording))).toBe('recording_not_found')
  const turn = join(recording, 'turn-00001')
  mkdirSync(turn, { recursive: true })
  writeFileSync(join(turn, 'action.json'), JSON.stringify({ tool: 'click', arguments: {} }))
  const target = join(folder, 'film.mp4')
  expect(await codeOf(() => exportFilm(readRecording(recording), 'mp4', target))).toBe('recording_not_found')
  writeFileSync(join(turn, 'screenshot.png'), pixel)
  writeFileSync(join(recording, 'recording.mp4'), 'no film at all')
  expect(await codeOf(() => exportFilm(readRecording(recording), 'mp4', target))).toBe('film_not_exported')
})
