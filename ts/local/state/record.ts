/** What is written of a sandbox: what it was made as, and which processes are it. */

import { readFileSync } from 'node:fs'
import { writeWholeSync } from '@backlot/native/durable'
import type { LevelName } from '../isolation/level.ts'

/** What a sandbox reaches. */
export type Network = 'none' | 'loopback' | 'internet'

/** A folder of the host that a sandbox sees. */
export interface Mount {
  readonly host_path: string
  readonly path: string
  readonly read_only: boolean
}

/** What a sandbox was made as. */
export interface SandboxRecord {
  readonly name: string
  /** The path of its folder when it was made: it may have been renamed since. */
  readonly origin: string
  /** Whether it ends, and is removed, with the program that started it. */
  readonly ephemeral: boolean
  readonly isolation: LevelName
  /** The version of its own root; null where it has programs of the host. */
  readonly root_version: string | null
  readonly network: Network
  readonly mounts: readonly Mount[]
  /** Processors, or null where they are not limited. */
  readonly cpu: number | null
  readonly memory_mb: number | null
  readonly disk_gb: number | null
  /** Pixels of the screen: `1280x800`. */
  readonly size: string
  /** Variables of its programs, which are told to nobody: they may hold secrets. */
  readonly env: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  /** ISO 8601 in UTC. */
  readonly created_at: string
  /** When it ends by itself; null: never. */
  readonly expires_at: string | null
  /** What differs from what was asked, in sentences. */
  readonly warnings: readonly string[]
  /** What `/etc/os-release` calls the system of its programs: `debian` and `12`. */
  readonly distro: string
  readonly version: string
  /** Whether it has ever been ready; one that has not is removed when its start is over. */
  readonly is_whole: boolean
}

/** A process that cannot be taken for another one. */
export interface ProcessRecord {
  readonly pid: number
  /** Field 22 of `/proc/PID/stat` (proc(5)). */
  readonly start_ticks: number
}

/** The processes of a sandbox that runs. */
export interface RunRecord {
  /** `/proc/sys/kernel/random/boot_id`: pids count anew after a restart of the machine. */
  readonly boot: string
  /** Inode of the pid namespace in which the pids count. */
  readonly namespace: number
  /** Who looks after it. */
  readonly supervisor: ProcessRecord
  /** A word that no other run has, among the arguments of bwrap. */
  readonly mark: string
  /** The first process of its own pid namespace, once there is one, with that namespace's inode. */
  readonly init: (ProcessRecord & { readonly namespace: number }) | null
  /** Whether its programs are halted only as long as its files are copied, or were when who did so died. */
  readonly is_copied?: boolean
  /** The port of 127.0.0.1 at which its computer server is reached. */
  readonly port: number
}

/** Reads a file of ours; null where it is not there or is not whole. */
export const readRecord = <T>(path: string): T | null => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    return null
  }
}

/** Writes a file of ours, whole or not at all. */
export const writeRecord = (path: string, value: unknown): void => writeWholeSync(path, `${JSON.stringify(value)}\n`)
