/** Where an emulator of this machine serves gRPC: it writes that to a file, which clients look for. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Variables } from '@backlot/contract/places'

/** The way to it. */
export interface EmulatorEndpoint {
  readonly port: number
  /** What it wants to hear from its callers; undefined where it asks for nothing. */
  readonly token: string | undefined
}

/** What the emulator of a serial such as `emulator-5554` says; undefined where none does. */
export const advertisedBy = (serial: string | undefined, env: Variables): EmulatorEndpoint | undefined => {
  const [, console] = /^emulator-(\d+)$/.exec(serial ?? '') ?? []
  if (console === undefined) return undefined
  const homes = [env.XDG_RUNTIME_DIR, env.ANDROID_EMULATOR_HOME, env.HOME && join(env.HOME, '.android')]
  for (const home of homes) {
    for (const text of home ? textsIn(join(home, 'avd/running')) : []) {
      const fields = new Map(text.split('\n').map((line) => line.trim().split(/=(.*)/, 2) as [string, string]))
      const port = Number(fields.get('grpc.port'))
      if (fields.get('port.serial') === console && port > 0) return { port, token: fields.get('grpc.token') }
    }
  }
  return undefined
}

const textsIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
      .filter((name) => lives(Number(/^pid_(\d+)\.ini$/.exec(name)?.[1])))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
  } catch {
    return []
  }
}

/** Whether a process lives; the file of one that was killed stays. */
const lives = (pid: number): boolean => {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
