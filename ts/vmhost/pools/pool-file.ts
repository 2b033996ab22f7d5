/** How many forks of a VM are kept ready: a file in its folder, which no copy of the VM has. */
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { replaceFile, syncFolder } from '../files/durable.ts'
import { vmPath } from '../vms/vm-directory.ts'

/** The size that was asked for; 0 where nobody did, or the file is none of ours. */
export const sizeOfPool = (folder: string): number => {
  try {
    const { size } = JSON.parse(readFileSync(vmPath(folder, 'pool'), 'utf8')) as { size?: unknown }
    return Number.isInteger(size) ? Math.max(0, Number(size)) : 0
  } catch {
    return 0
  }
}

/** Keeps the size, durably. */
export const writePoolSize = async (folder: string, size: number): Promise<void> => {
  if (size > 0) return replaceFile(vmPath(folder, 'pool'), `${JSON.stringify({ size })}\n`)
  await rm(vmPath(folder, 'pool'), { force: true })
  await syncFolder(folder)
}
