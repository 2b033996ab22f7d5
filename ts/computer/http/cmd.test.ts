import { expect, test } from 'bun:test'
import { until } from '../../../tests/support/until.ts'
import type { Report } from '../backend.ts'
import type { Computer } from '../command/run.ts'
import { answerCommand, mostWaitingBytes } from './cmd.ts'

/** A computer whose one command says more than may wait, on both outputs at once. */
const talkative = () => {
  const ended = Promise.withResolvers<void>()
  let [begun, waiting] = [0, 0]
  const say = async (progress: Report | undefined, stream: 'stdout' | 'stderr'): Promise<void> => {
    for (let count = 0; count < 30; count += 1) {
      begun += 1
      waiting += 1
      await progress?.({ stream, text: 'x'.repeat(100_000) })
      waiting -= 1
    }
  }
  const computer: Computer = {
    backend: {
      osType: 'linux',
      handlers: {
        async run_command(_, { progress }) {
          await Promise.all([say(progress, 'stdout'), say(progress, 'stderr')])
          ended.resolve()
          return { stdout: '', stderr: '', return_code: 0, returncode: 0 }
        },
      },
      releaseHeld: async () => {},
      probe: async () => ({}),
      async [Symbol.asyncDispose]() {},
    },
    during: (signal, action) => action(signal),
    report: () => {},
  }
  return {
    computer,
    ended: ended.promise,
    areBothWaiting: () => waiting === 2 && begun > mostWaitingBytes / 100_000 + 1,
  }
}

const asked = (signal?: AbortSignal): Request =>
  new Request('http://localhost/cmd', {
    method: 'POST',
    headers: { Accept: 'text/event-stream' },
    body: JSON.stringify({ command: 'run_command', params: { command: 'true' } }),
    ...(signal && { signal }),
  })

test('a caller that reads slowly is sent all of two long outputs, and the answer', async () => {
  const { body } = await answerCommand(talkative().computer, asked())
  let text = ''
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) text += part
  expect(text.split('event: output').length - 1).toBe(60)
  expect(text).toContain('"return_code":0')
})

test('the command of a caller that goes away without reading comes to its end', async () => {
  const gone = new AbortController()
  const { computer, ended, areBothWaiting } = talkative()
  await answerCommand(computer, asked(gone.signal))
  await until('both outputs to wait', areBothWaiting)
  gone.abort()
  await ended
})
