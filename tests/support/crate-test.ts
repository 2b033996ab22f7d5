/** Tests of the crates with numbers that their usual runs do not have, and their example programs. */
import { expect } from 'bun:test'
import { testBinary } from './test-binaries.ts'

/** Runs a test of the crate `qcow2`, in this file of its folder `tests/integration`, and answers what it prints. */
export const crateTest = async (file: string, name: string, numbers: Record<string, string>): Promise<string> => {
  const command = [testBinary('qcow2', 'test'), '--exact', `${file}::${name}`, '--nocapture']
  const child = Bun.spawn(command, { env: { ...process.env, ...numbers }, stdout: 'pipe', stderr: 'pipe' })
  const [said, complained] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect({ file, status: await child.exited, complained: complained.slice(0, 4000) }).toMatchObject({ file, status: 0 })
  expect(said).toContain('1 passed')
  return said
}

/** A seed that nobody has tried; a failure names it. */
export const seed = (): string => String(Math.floor(Math.random() * 2 ** 40))

/** What an example program of the crate `qcow2` prints, as a stream. */
export const crateExample = (name: string, ...words: string[]): ReadableStream<Uint8Array> =>
  Bun.spawn([testBinary('qcow2', 'example', name), ...words], { stdout: 'pipe' }).stdout
