/** What this machine offers a test run, and what a run has left on it. */
import { dlopen } from 'bun:ffi'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const setChildSubreaper = 36

/** Makes this process the parent of descendants whose own parents end, so that they can be found; see prctl(2). */
export function adoptDescendants(): void {
  if (process.platform !== 'linux') return
  const { symbols } = dlopen('libc.so.6', { prctl: { args: ['i32', 'u64'], returns: 'i32' } })
  symbols.prctl(setChildSubreaper, 1n)
}

/** A process: its parent, its state as ps(1) writes it, and its command line. */
interface Process {
  readonly pid: number
  readonly parent: number
  readonly state: string
  readonly command: string
}

const processes = (): Process[] =>
  readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, state = '', parent = ''] = readFileSync(`/proc/${name}/stat`, 'utf8').match(/\) (\S) (\d+)/) ?? []
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return [{ pid: Number(name), parent: Number(parent), state, command }]
    } catch {
      return []
    }
  })

/** All living descendants of this process, but for `except` and theirs. */
export function descendants(except: ReadonlySet<number> = new Set()): Process[] {
  const all = processes().filter(({ state }) => state !== 'Z' && state !== 'X')
  const found: Process[] = []
  const parents = [process.pid]
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const child of all) {
      if (child.parent !== parent || except.has(child.pid)) continue
      found.push(child)
      parents.push(child.pid)
    }
  }
  return found
}

/**
 * What a run could leave on the machine: mounts and devices, and where jobs have no folders of their own also sockets of
 * displays and files of ours; a line each.
 */
export function traces(isApart = false): Set<string> {
  const mounts = existsSync('/proc/self/mountinfo') ? readFileSync('/proc/self/mountinfo', 'utf8').split('\n') : []
  const names = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])
  const loops = names('/sys/block').filter((name) => existsSync(`/sys/block/${name}/loop/backing_file`))
  const ours = ['/tmp', '/run', '/dev/shm', '/var/tmp'].flatMap((folder) =>
    names(folder)
      .filter((name) => name.startsWith('backlot'))
      .map((name) => `file ${join(folder, name)}`),
  )
  const shared = isApart ? [] : [...names('/tmp/.X11-unix').map((name) => `socket /tmp/.X11-unix/${name}`), ...ours]
  return new Set([
    ...mounts.flatMap((line) => (line === '' ? [] : `mount ${line.split(' ')[4]}`)),
    ...loops.map((name) => `device /dev/${name}`),
    ...shared,
  ])
}

/** What stands in `after` and not in `before`. */
export const added = (before: ReadonlySet<string>, after: ReadonlySet<string>): string[] =>
  [...after].filter((line) => !before.has(line))

/**
 * Makes this process the only test run of a checkout, until it ends; gives the process id of another that runs already.
 * `file` names the one that runs.
 */
export function onlyRun(file: string): number | undefined {
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      process.once('exit', () => rmSync(file, { force: true }))
      return undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const other = Number(readFileSync(file, 'utf8'))
    if (other > 0 && existsSync(`/proc/${other}`)) return other
    // It ended without removing its file.
    rmSync(file, { force: true })
  }
}
