/** A desktop, a computer server on it, and programs that use it by every runtime and way. */
import { afterAll, beforeAll } from 'bun:test'
import { startComputer, type TestComputer } from '../computer.ts'
import { privateDesktop, type TestDesktop } from '../desktop.ts'
import { type Driven, drive, type Kind, type Runtime, ways } from './driven.ts'

/** What the tests of one file share. */
export interface SdkSetup {
  readonly desktop: TestDesktop
  readonly computer: TestComputer
  /** The program of a runtime and way, started when it is first wanted. */
  program(runtime: Runtime, kind: Kind): Promise<Driven>
}

/** The key that the server asks for. */
export const apiKey = 'a-key-of-this-test'

/** Sets it up before the first test of the file, and ends it after the last. */
export const sdkSetup = (): (() => SdkSetup) => {
  const desktop = privateDesktop()
  let computer: TestComputer | undefined
  const programs = new Map<string, Promise<Driven>>()
  beforeAll(async () => {
    const { env } = desktop()
    computer = await startComputer(['--port', '0'], { ...env, BACKLOT_COMPUTER_KEY: apiKey })
  }, 60_000)
  afterAll(async () => {
    await Promise.all([...programs.values()].map(async (program) => (await program)[Symbol.asyncDispose]()))
    await computer?.[Symbol.asyncDispose]()
  }, 60_000)
  return () => {
    if (computer === undefined) throw new Error('the computer is there only while tests run')
    const { url } = computer
    return {
      desktop: desktop(),
      computer,
      program(runtime, kind) {
        const name = `${runtime} ${kind}`
        const { env } = desktop()
        const way = { kind, url: kind === 'websocket' ? `${url.replace('http', 'ws')}/ws` : url, apiKey }
        const started = programs.get(name) ?? drive(runtime, way, { ...process.env, ...env })
        programs.set(name, started)
        return started
      },
    }
  }
}

export { ways }
