/** The machine as the kernel shows it in `/proc` (proc(5)). */
import { readFileSync } from 'node:fs'

/** Bytes of memory: those there are, or those that programs may take before others are moved out. */
export const memoryBytes = (name: 'MemTotal' | 'MemAvailable'): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024

/** The name of this start of the machine: pids count anew in each. */
export const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
