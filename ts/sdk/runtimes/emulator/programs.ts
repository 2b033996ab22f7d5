/** Running the programs of the Android SDK. */
import { spawn } from 'node:child_process'

/** How one ended, and what it wrote. */
export interface ProgramResult {
  readonly status: number
  readonly output: string
}

/** Runs a program with an input to its end, or until the signal ends it. Throws where it does not start. */
export const finish = async (
  command: readonly [string, ...string[]],
  {
    env = {},
    input = '',
    signal,
  }: { env?: Record<string, string>; input?: string; signal?: AbortSignal | undefined } = {},
): Promise<ProgramResult> => {
  const [program, ...words] = command
  const child = spawn(program, words, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(signal !== undefined && { signal }),
  })
  // One that asks nothing may have ended before.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      output += piece.toString()
    })
  }
  return new Promise((settle, refuse) => {
    child.once('error', refuse)
    child.once('close', (code) => settle({ status: code ?? 1, output: output.trim() }))
  })
}

/** The last lines of what a program wrote, as a message tells them. */
export const lastLines = (text: string, count = 3): string =>
  text
    .trim()
    .split('\n')
    .slice(-count)
    .map((line) => line.trim())
    .join(' / ')
