import { expect, jest, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { proving } from '../../../tests/support/proves.ts'
import { until } from '../../../tests/support/until.ts'
import { callTool } from '../call.ts'
import { openDriver } from '../driver.ts'

test(
  'recordings end after five minutes in which no tool was called',
  proving(['driver.limits.recording-idle'], async () => {
    const folder = mkdtempSync(join(tmpdir(), 'recordings-'))
    // What is recorded needs no display before there is a turn.
    await using driver = await openDriver({ display: ':no-display', configFile: join(folder, 'none.json') })
    const output_dir = join(folder, 'recorded')
    const call = (name: string, args = {}) =>
      callTool(driver, name, args, { client: 'test', signal: new AbortController().signal })
    const stopped = () => JSON.parse(readFileSync(join(output_dir, 'session.json'), 'utf8')).stopped_because
    // Nobody waits five minutes for a test: the clock is not the real one. Shorter times are tested with it, end to end.
    jest.useFakeTimers()
    try {
      expect(await call('start_recording', { output_dir })).toMatchObject({ structuredContent: { recording: true } })
      jest.advanceTimersByTime(200_000)
      await call('get_recording_state')
      jest.advanceTimersByTime(299_999)
      expect(await call('get_recording_state')).toMatchObject({ structuredContent: { recording: true } })
      jest.advanceTimersByTime(300_000)
      expect(await call('get_recording_state')).toMatchObject({
        structuredContent: { recording: false },
      })
      jest.useRealTimers()
      await until('the end in its file', () => stopped() !== null)
      expect(stopped()).toBe('no tool was called for a long time')
    } finally {
      jest.useRealTimers()
      rmSync(folder, { recursive: true, force: true })
    }
  }),
)
