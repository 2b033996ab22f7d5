/** Whether this machine has what VMs on QEMU need. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { BacklotError } from '../../errors.ts'
import { findExecutable } from '../../local/executable.ts'

/** Why it has not, and what helps. */
interface Missing {
  readonly reason: string
  readonly remedy: string
}

/** The programs, and the package of Debian and Ubuntu that has each. */
const programs = { 'qemu-system-x86_64': 'qemu-system-x86', 'qemu-img': 'qemu-utils', mke2fs: 'e2fsprogs' } as const

/** What is missing; undefined where VMs can be started. */
export const missingRequirement = async (accelerator: string | undefined): Promise<Missing | undefined> => {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    const remedy = 'Run this program on Linux on x86-64, or use another runtime.'
    return { reason: `This version starts VMs on Linux on x86-64, not on ${process.platform}-${process.arch}.`, remedy }
  }
  if (accelerator === 'hvf' || accelerator === 'whpx') {
    return { reason: `"${accelerator}" is not of Linux.`, remedy: 'Leave "accel" out, or give kvm or tcg.' }
  }
  if (accelerator === 'kvm' && !isUsable('/dev/kvm')) {
    const remedy = 'Join the group "kvm", turn virtualization on in the firmware, or leave "accel" out.'
    return { reason: '"/dev/kvm" is not there, or this user may not open it.', remedy }
  }
  for (const [program, pack] of Object.entries(programs)) {
    if (isOnPath(program)) continue
    return { reason: `"${program}" is not installed.`, remedy: `On Debian and Ubuntu: apt install ${pack}.` }
  }
  try {
    await findExecutable()
    return undefined
  } catch (error) {
    if (!BacklotError.is(error) || error.code !== 'executable_not_found') throw error
    return { reason: error.message, remedy: 'Then try again.' }
  }
}

/** Ordinary users often lack the system's own folders on their PATH. */
const isOnPath = (program: string): boolean =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
    .filter((folder) => folder !== '')
    .some((folder) => may(join(folder, program), constants.X_OK))

const isUsable = (path: string): boolean => may(path, constants.R_OK | constants.W_OK)

const may = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
