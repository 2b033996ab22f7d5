/** `container-program.ts ROUNDS`, where the engine's ports are: creates and uses sandboxes, prints the times as JSON. */
import { Image, runtimes, Sandbox } from '@backlot/sdk'
import { milliseconds } from '../driver/measure.ts'

/** Samples in milliseconds. */
export type ContainerTimes = Readonly<
  Record<'build' | 'command' | 'picture' | 'suspend' | 'resume' | 'delete', number[]>
>

const runtime = runtimes.container({ build: { base: 'base', network: 'host' } })
const image = Image.linux({ distro: 'debian', version: '12' })
const times: ContainerTimes = { build: [], command: [], picture: [], suspend: [], resume: [], delete: [] }

/** Creates and deletes one; `command` and `picture` get the times until it has carried out the first. */
const measure = async (name: string, command: number[], picture: number[]): Promise<void> => {
  const begun = performance.now()
  await using sandbox = await Sandbox.create(image, { runtime, name, timeoutMs: 1_800_000 })
  await sandbox.shell.run('true', { check: true })
  command.push(performance.now() - begun)
  await sandbox.screenshot()
  picture.push(performance.now() - begun)
  times.suspend.push(await milliseconds(() => Sandbox.suspend(name, { runtime })))
  times.resume.push(await milliseconds(async () => (await Sandbox.resume(name, { runtime })).disconnect()))
  times.delete.push(await milliseconds(() => Sandbox.delete(name, { runtime })))
}

// The first one builds the image of all.
await measure('cold', times.build, [])
for (let round = 0; round < Number(process.argv[2]); round += 1) {
  await measure(`bench-${round}`, times.command, times.picture)
}
console.log(JSON.stringify(times))
process.exit(0)
