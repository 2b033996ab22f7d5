/** One booted guest for a run of the tests: a template that is saved once, of which those that only need a guest make forks. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { startVmHost, type VmHost } from './vmhost.ts'
import { booted, call, ended, giveImage, image, run, small } from './vms.ts'

const root = join(import.meta.dir, '../..')
/** The home of the service that made it. */
const home = join(root, 'target/guest')
const stamp = join(home, 'made-of')
const vms = 'data/vms'

/** What it hangs on: the image, the hypervisor, and the service that saves it. */
const madeOf = (): string => {
  const sum = new Bun.CryptoHasher('sha256')
  const sources = [...new Bun.Glob('ts/vmhost/**/*.ts').scanSync({ cwd: root })].filter(
    (file) => !file.endsWith('.test.ts'),
  )
  for (const file of ['target/images/builder', 'target/accelerator.json', ...sources.toSorted()])
    sum.update(`${file} `).update(readFileSync(join(root, file)))
  return sum.digest('hex')
}

/** Makes it where there is none of what there is now; after the image and what guests run on. */
export const prepareGuest = async (): Promise<void> => {
  const parts = madeOf()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === parts) return
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { recursive: true })
  await using host = await startVmHost(['--port', '0'], home)
  await giveImage(host)
  await createFork(host, 'first')
  await call(host, 'DELETE', '/svc/vms/first')
  writeFileSync(stamp, parts)
}

/** Files that nobody writes to: another name leads to them. */
const unchanging = ['memory.state', 'kernel', 'initrd', 'executable.img']

/** Gives a host the image that tests boot, and the guest that was prepared, where it was. */
export const giveGuest = async (host: Pick<VmHost, 'home'>): Promise<void> => {
  await giveImage(host)
  if (!existsSync(stamp)) return
  const to = join(host.home, vms)
  for (const folder of readdirSync(join(home, vms)).filter((name) => /^\.(template-|bases$)/.test(name))) {
    mkdirSync(join(to, folder), { recursive: true, mode: 0o700 })
    for (const file of readdirSync(join(home, vms, folder))) {
      const [from, name] = [join(home, vms, folder, file), join(to, folder, file)]
      if (folder === '.bases' || unchanging.includes(file)) symlinkSync(from, name)
      else cpSync(from, name, { recursive: true, preserveTimestamps: true })
    }
  }
}

/** Makes a VM as a fork of it; it is suspended. */
const createFork = async (host: VmHost, name: string): Promise<void> => {
  const [status, { operationId }] = await call(host, 'POST', '/svc/vms', { ...small, name, image, template: true })
  if (status !== 200) throw new Error(`no guest "${name}": ${status}`)
  const { state, cause } = await ended(host, String(operationId))
  if (state !== 'done') throw new Error(`no guest "${name}": ${JSON.stringify(cause)}`)
}

/** A VM whose guest runs and answers: a fork of the one that was prepared, or, where none was, of one that is made now. */
export const runningGuest = async (host: VmHost, name: string, options?: object): Promise<Vm> => {
  await createFork(host, name)
  const vm = await run(host, name, options)
  await booted(vm)
  return vm
}
