/** A program that uses the package, for tests that end it: `VERB FOLDER NAME COMMAND...`, where COMMAND is the executable. */
import { Image, Sandbox } from '@backlot/sdk'
import { ProcessRuntime } from './process-runtime.ts'

const [verb, folder = '', name = '', ...command] = process.argv.slice(2)
const runtime = new ProcessRuntime(folder, command as [string, ...string[]])
const say = (text: string) => void process.stdout.write(`${text}\n`)

const verbs: Readonly<Record<string, () => Promise<unknown>>> = {
  /** Holds an ephemeral sandbox until it is ended. */
  async hold() {
    await Sandbox.ephemeral(Image.desktop(), { runtime, name })
    say('held')
    await new Promise((wake) => setTimeout(wake, 60_000))
  },
  /** Lets an ephemeral sandbox go with the program. */
  async leave() {
    await Sandbox.ephemeral(Image.desktop(), { runtime, name })
    say('held')
  },
  /** Creates a sandbox that stays, or says why not. */
  async create() {
    const sandbox = await Sandbox.create(Image.desktop(), { runtime, name }).catch((error) => error)
    say(sandbox instanceof Sandbox ? (await sandbox.shell.run('echo created')).stdout.trim() : sandbox.code)
  },
  /** Reserves a name, and is ended before anything runs. */
  async reserve() {
    runtime.start = async () => {
      say('reserved')
      return new Promise((wake) => setTimeout(wake, 60_000))
    }
    await Sandbox.create(Image.desktop(), { runtime, name })
  },
  /** All that a program does with a sandbox. */
  async life() {
    const sandbox = await Sandbox.create(Image.desktop(), { runtime, name })
    say((await sandbox.shell.run('echo runs')).stdout.trim())
    await Sandbox.suspend(name)
    say((await Sandbox.getInfo(name)).status)
    const resumed = await Sandbox.resume(name)
    say((await Sandbox.list({ runtime })).map((each) => `${each.name} ${each.status}`).join())
    await resumed.destroy()
    say(String((await Sandbox.list({ runtime })).length))
  },
}

await verbs[verb ?? '']?.()
