/** Limits that the kernel keeps a sandbox to, by control groups where this user may make them. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { SandboxRecord } from '../state/record.ts'

/** The limits of a sandbox: the groups that its first process joins, and what is not limited, in sentences. */
export interface Limits {
  /** Their `cgroup.procs`. */
  readonly files: readonly string[]
  readonly warnings: readonly string[]
}

/** Processes of one sandbox: a desktop with a browser has a few hundred. */
const mostProcesses = 4096

const cgroups = '/sys/fs/cgroup'
const periodUs = 100_000

type RequestedLimits = Pick<SandboxRecord, 'cpu' | 'memory_mb'>

/** Files of a control group and what to write to them, for each controller, in both versions of control groups. */
const settings = (wanted: RequestedLimits) => ({
  pids: { v1: { 'pids.max': mostProcesses }, v2: { 'pids.max': mostProcesses } },
  ...(wanted.memory_mb !== null && {
    memory: {
      v1: { 'memory.limit_in_bytes': wanted.memory_mb * 2 ** 20 },
      v2: { 'memory.max': wanted.memory_mb * 2 ** 20, 'memory.swap.max': 0 },
    },
  }),
  ...(wanted.cpu !== null && {
    cpu: {
      v1: { 'cpu.cfs_period_us': periodUs, 'cpu.cfs_quota_us': Math.round(wanted.cpu * periodUs) },
      v2: { 'cpu.max': `${Math.round(wanted.cpu * periodUs)} ${periodUs}` },
    },
  }),
})

const isV2 = (): boolean => existsSync(join(cgroups, 'cgroup.controllers'))

const groupName = (folder: string): string => {
  const hash = new Bun.CryptoHasher('sha256').update(folder).digest('hex').slice(0, 12)
  return `backlot-${basename(folder)}-${hash}`
}

const write = (group: string, values: Readonly<Record<string, number | string>>): void => {
  mkdirSync(group, { recursive: true })
  for (const [file, value] of Object.entries(values)) {
    const path = join(group, file)
    // Memory that is never written out has no file of its own.
    if (file === 'memory.swap.max' && !existsSync(path)) continue
    writeFileSync(path, String(value))
  }
}

/** Makes the control groups of the sandbox in that folder; what cannot be limited is told. */
export const makeLimits = (folder: string, wanted: RequestedLimits): Limits => {
  const name = groupName(folder)
  const files: string[] = []
  const warnings: string[] = []
  for (const [controller, { v1, v2 }] of Object.entries(settings(wanted))) {
    try {
      const group = isV2() ? join(cgroups, name) : join(cgroups, controller, name)
      if (isV2()) {
        const offered = readFileSync(join(cgroups, 'cgroup.subtree_control'), 'utf8').trim().split(/\s+/)
        if (!offered.includes(controller)) writeFileSync(join(cgroups, 'cgroup.subtree_control'), `+${controller}`)
      }
      write(group, isV2() ? v2 : v1)
      const procs = join(group, 'cgroup.procs')
      if (!files.includes(procs)) files.push(procs)
    } catch (error) {
      if (controller !== 'pids') warnings.push(notLimited(controller, (error as NodeJS.ErrnoException).code))
    }
  }
  return { files, warnings }
}

const notLimited = (controller: string, code: string | undefined): string => {
  const what = controller === 'cpu' ? 'Processors are' : 'Memory is'
  return `${what} not limited: this user may make no control group (${code ?? 'unknown'}).`
}

/** Ends what is in a control group, where a supervisor died before it knew the first process of its sandbox. */
const endAll = (group: string): void => {
  try {
    for (const pid of readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)) {
      process.kill(Number(pid), 'SIGKILL')
    }
  } catch {
    // They have ended meanwhile.
  }
}

/** Removes the control groups of the sandbox in that folder, whose run is over, with what is left in them. */
export const removeLimits = async (folder: string): Promise<void> => {
  const name = groupName(folder)
  for (const group of [...['pids', 'memory', 'cpu'].map((each) => join(cgroups, each, name)), join(cgroups, name)]) {
    for (let tries = 0; existsSync(group) && tries < 2_000; tries += 1) {
      try {
        rmdirSync(group)
      } catch {
        endAll(group)
        // The kernel counts the processes out that it has just ended.
        await Bun.sleep(5)
      }
    }
  }
}
