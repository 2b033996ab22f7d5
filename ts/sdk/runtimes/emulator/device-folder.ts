/** What is kept of each emulator: a folder with its virtual device, how its processes are found again, and their logs. */
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile, makePrivateFolder, readText, removeFile, replaceFile } from '../../state/durable.ts'
import { folders } from '../../state/folders.ts'
import { hasEnded, type ProcessIdentity } from '../../state/owner.ts'

/** The virtual device, of which each emulator has one in a folder of its own. */
export const deviceName = 'backlot'

/** The snapshot with which a suspended one continues. */
export const suspendedSnapshot = 'backlot-suspended'

/** An emulator that was started. */
export interface StartedEmulator {
  /** The port of its console; the next one is adb's. */
  readonly port: number
  readonly emulator: ProcessIdentity | null
  readonly server: ProcessIdentity | null
  /** The port of its computer server. */
  readonly apiPort: number | null
}

const base = (): string => join(folders().data, 'emulators')

/** The files of one emulator. */
export class DeviceFolder {
  readonly path: string

  constructor(readonly name: string) {
    this.path = join(base(), name)
  }

  /** The folder for `ANDROID_AVD_HOME`. */
  get avds(): string {
    return join(this.path, 'avd')
  }

  /** The file with the key of the computer server. */
  get keyFile(): string {
    return join(this.path, 'key')
  }

  log(what: 'emulator' | 'computer'): string {
    return join(this.path, `${what}.log`)
  }

  exists(): boolean {
    return existsSync(this.path)
  }

  /** Makes it, with a key. */
  async make(key: string): Promise<void> {
    await makePrivateFolder(this.avds)
    await createFile(this.keyFile, key)
  }

  async key(): Promise<string> {
    return (await readText(this.keyFile)) ?? ''
  }

  async started(): Promise<StartedEmulator | undefined> {
    const text = await readText(join(this.path, 'started.json'))
    return text === undefined ? undefined : (JSON.parse(text) as StartedEmulator)
  }

  async write(started: StartedEmulator): Promise<void> {
    await replaceFile(join(this.path, 'started.json'), JSON.stringify(started))
  }

  /** Whether its emulator runs, in whichever program it was started. */
  async isRunning(): Promise<boolean> {
    const emulator = (await this.started())?.emulator
    return emulator !== undefined && emulator !== null && !(await hasEnded(emulator))
  }

  /** Whether it continues with a saved memory. */
  isSuspended(): boolean {
    return existsSync(join(this.path, 'suspended'))
  }

  async markSuspended(is: boolean): Promise<void> {
    if (is) await createFile(join(this.path, 'suspended'), '')
    else await removeFile(join(this.path, 'suspended'))
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** All there are. */
export const deviceFolders = async (): Promise<DeviceFolder[]> => {
  const names = await readdir(base()).catch(() => [])
  return names.filter((name) => !name.startsWith('.')).map((name) => new DeviceFolder(name))
}

/** The lock under which ports are chosen. */
export const portsLock = (): string => join(folders().runtime, 'emulator-ports.lock')
