/** What ends a desktop, on every path: a shell that outlives its owner by as long as that takes. */
import { basename } from 'node:path'
import { environment } from '@backlot/contract/limits'
import script from '../guardian.sh' with { type: 'text' }

/** Value of the variable that marks every process of the desktop in this folder. */
export const markOf = (folder: string): string => basename(folder)

/** Ends one desktop: at once when `end` is called, by itself when the process dies that started it. */
export interface Guardian {
  readonly pid: number
  /**
   * Ends every process of the desktop and removes what it left; settles when that is done. Calling it twice is fine. With
   * `children` all that descends from this process is of the desktop.
   */
  end(children?: boolean): Promise<void>
}

/** Starts the guardian of the desktop in `folder`, in a session of its own and without the desktop's mark. */
export const startGuardian = (folder: string): Guardian => {
  const shell = Bun.spawn(
    ['/bin/sh', '-c', script, 'backlot-desktop-guardian', folder, `${environment.desktop}=${markOf(folder)}`],
    {
      cwd: '/',
      env: { PATH: process.env.PATH ?? '' },
      stdin: 'pipe',
      stdout: 'ignore',
      stderr: 'ignore',
      detached: true,
    },
  )
  return {
    pid: shell.pid,
    async end(children = false) {
      if (children) shell.stdin.write(`${process.pid}\n`)
      shell.stdin.end()
      await shell.exited
    },
  }
}

/** Ends what is left of a desktop whose owner is dead. */
export const sweep = (folder: string): Promise<void> => startGuardian(folder).end()
