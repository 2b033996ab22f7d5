/** Tests of the crates with numbers that their usual runs do not have, and their example programs. */
import { expect } from 'bun:test'
import { userInfo } from 'node:os'
import { join } from 'node:path'

// The registry's copies and the compiler lie in the home that the throw-away root replaces.
const homes = {
  CARGO_HOME: process.env.CARGO_HOME ?? join(userInfo().homedir, '.cargo'),
  RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(userInfo().homedir, '.rustup'),
}

/** Runs a test of the crate `qcow2` and answers what it prints. */
export const crateTest = async (file: string, name: string, numbers: Record<string, string>): Promise<string> => {
  const command = ['cargo', 'test', '--quiet', '--offline', '-p', 'qcow2', '--test', file, name, '--', '--nocapture']
  const child = Bun.spawn(command, { env: { ...process.env, ...homes, ...numbers }, stdout: 'pipe', stderr: 'pipe' })
  const [said, complained] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect({ file, status: await child.exited, complained: complained.slice(0, 4000) }).toMatchObject({ file, status: 0 })
  return said
}

/** A seed that nobody has tried; a failure names it. */
export const seed = (): string => String(Math.floor(Math.random() * 2 ** 40))

/** What an example program of the crate `qcow2` prints, as a stream. */
export const crateExample = (name: string, ...words: string[]): ReadableStream<Uint8Array> =>
  Bun.spawn(['cargo', 'run', '--quiet', '--offline', '-p', 'qcow2', '--example', name, '--', ...words], {
    env: { ...process.env, ...homes },
    stdout: 'pipe',
  }).stdout
