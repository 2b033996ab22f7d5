import { expect, test } from 'bun:test'
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../../../../tests/support/until.ts'
import type { AgentAnswer, AgentCommand } from './agent.ts'
import { OutputReader } from './guest-output.ts'
import { joinedTo, marksOutputs, pumps, removePipesCommand } from './guest-pipes.ts'

/** Carries out what the agent is asked about files, with those that are here. */
const carryOut = ({ execute, arguments: given }: AgentCommand): AgentAnswer => {
  const {
    path = '',
    mode = 'r',
    handle = 0,
    count = 0,
  } = given as Partial<Record<string, never>> & {
    path?: string
    mode?: string
    handle?: number
    count?: number
  }
  try {
    if (execute === 'guest-file-open') return { returned: openSync(path, mode) }
    if (execute === 'guest-file-close') return { returned: closeSync(handle) }
    const bytes = Buffer.alloc(count)
    const length = readSync(handle, bytes, 0, count, null)
    return { returned: { 'buf-b64': bytes.subarray(0, length).toString('base64') } }
  } catch (error) {
    return { refused: (error as Error).message }
  }
}

/** Asks once, as whoever follows a command does. */
const look = (reader: OutputReader, hasEnded: boolean): Uint8Array => {
  const questions = reader.questions(hasEnded)
  return reader.hear(
    questions,
    questions.map(([, command]) => carryOut(command)),
  )
}

const sh = (line: string) => Bun.spawn(['/bin/sh', '-c', line], { stdout: 'ignore', stderr: 'ignore' })

/** A command that runs joined to pipes, and what reads its output. */
const begin = (commandIn: (folder: string) => string) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'backlot-pipes-')), 'joined')
  const command = commandIn(folder)
  const child = sh(`${joinedTo(folder, false)}\n${command}`)
  const beside = sh(pumps(folder, false, 60))
  const reader = new OutputReader(join(folder, 'stdout'))
  return {
    ...{ folder, child, reader },
    async [Symbol.asyncDispose]() {
      for (const command of reader.closings()) carryOut(command)
      await sh(removePipesCommand(folder)).exited
      beside.kill()
      rmSync(join(folder, '..'), { recursive: true, force: true })
    },
  }
}

test('a command waits while its output is not read, in files of some megabytes, and loses none of it', async () => {
  // Longer than all files and the pipe together.
  const length = 30_000_000
  await using one = begin(() => `head -c ${length} /dev/zero | tr '\\0' x; echo end`)
  const files = () => readdirSync(one.folder).filter((name) => /^stdout\.\d+$/.test(name))
  await until('the second file', () => existsSync(join(one.folder, 'stdout.1')))
  await until('the pipe to be full', async () => files().length === 2 && one.child.exitCode === null)
  let total = 0
  let last = ''
  while (!one.reader.isOver) {
    const bytes = look(one.reader, one.child.exitCode !== null)
    total += bytes.length
    last = `${last}${Buffer.from(bytes.subarray(-5))}`.slice(-5)
    if (bytes.length === 0) await new Promise((settle) => setImmediate(settle))
    expect(files().length).toBeLessThanOrEqual(4)
  }
  expect([total, last, one.child.exitCode]).toEqual([length + 4, 'xend\n', 0])
})

test('what a command has left in the background is not waited for, and may write on', async () => {
  await using one = begin((folder) => `(while echo more; [ -d ${folder} ]; do sleep 0.01; done) & echo first`)
  await one.child.exited
  const mark = 'f00dfeed'
  one.reader.expect(mark)
  await until('the pipe', () => existsSync(join(one.folder, 'stdout.0')))
  expect(await sh(marksOutputs(one.folder, mark)).exited).toBe(0)
  let text = ''
  await until('the mark', () => {
    text += Buffer.from(look(one.reader, true)).toString()
    return one.reader.isOver
  })
  expect(text).toMatch(/^(more\n)*first\n(more\n)*$/)
  expect(text).not.toContain(mark.slice(0, 4))
})
