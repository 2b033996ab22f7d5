/** This very executable: under which name it runs, and how to start it again. */
import type { Program } from '@backlot/driver/edges/client/launch'

/** The names of the executable; which one is used decides what the commands mean. */
export type ProgramName = 'backlot' | 'backlot-driver'

/** Whether this is the compiled executable and not a run from the sources. */
export const isCompiled = (): boolean => /[/\\](?:\$bunfs|~BUN)[/\\]/.test(Bun.main)

const isDriverName = (path: string | undefined): boolean => /(?:^|[/\\])backlot-driver(?:\.\w+)?$/.test(path ?? '')

/** The name it was started under; from the sources that of the file. */
export const programName = (): ProgramName =>
  isDriverName(process.argv0) || (!isCompiled() && isDriverName(process.argv[1])) ? 'backlot-driver' : 'backlot'

/** How to start this executable under a name, whatever the working folder and the PATH are then. */
export const programCalled = (name: ProgramName): Program =>
  isCompiled()
    ? { command: [process.execPath], argv0: name }
    : { command: [process.execPath, `${import.meta.dir}/${name === 'backlot' ? 'main' : name}.ts`], argv0: 'bun' }

/** Lets the SDK, which starts the executable for what acts, find this one where nobody named another. */
export const nameToSdk = (): void => {
  if (isCompiled()) process.env.BACKLOT_BIN ||= process.execPath
}
