/** Containers that see the programs of this machine, as those of an image with all of them would. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { backlotCommand } from './backlot.ts'

/** Makes an image of empty folders, in which those programs are seen. */
export const makeMachineImage = (folder: string): void => {
  for (const name of ['proc', 'sys', 'dev', 'tmp', 'root', 'run', 'var/tmp', 'opt']) {
    mkdirSync(join(folder, name), { recursive: true })
  }
}

/** Words for `docker run`: all else is the engine's default. The executable is /opt/backlot. */
export const machinePrograms = (): string[] => {
  const [executable = ''] = backlotCommand()
  const shown = [
    ...['/usr:/usr', '/usr/bin:/bin', '/usr/lib:/lib', '/usr/lib64:/lib64', '/etc:/etc'],
    `${executable}:/opt/backlot`,
  ]
  return [...shown.flatMap((each) => ['--volume', `${each}:ro`]), '--env', 'PATH=/opt:/usr/sbin:/usr/bin']
}
