/** A VM host that is killed in the middle of what it does, and what must hold when the next one has taken over. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { until } from './until.ts'
import { startVmHost, type VmHost } from './vmhost.ts'
import { booted, call, checkDisk, create, get, giveImage, image, isAlive, run, small } from './vms.ts'

/** A home in which hosts come and go; `steady` is a VM in it that runs all the time. */
export interface Scene extends AsyncDisposable {
  readonly home: string
  host: VmHost
  readonly steadyPid: number
}

const tiny = { ...small, memory: '32MB', diskSize: '64MB' } as const

/** Begins a home with a VM that runs, and a disk file to make others of. */
export const openHome = async (): Promise<Scene> => {
  const home = mkdtempSync(join(tmpdir(), 'backlot-killed-'))
  // What is begun goes again when something of it fails.
  await using begun = new AsyncDisposableStack()
  begun.defer(() => rmSync(home, { recursive: true, force: true }))
  const host = begun.use(await startVmHost(['--port', '0'], home))
  // Data that takes a while to be copied.
  writeFileSync(join(home, 'disk.raw'), crypto.getRandomValues(Buffer.alloc(32 * 2 ** 20).subarray(0, 65_536)))
  Bun.spawnSync(['truncate', '-s', '32M', join(home, 'disk.raw')])
  await call(host, 'POST', '/svc/config/locations', { name: 'other', path: join(home, 'other') })
  await create(host, 'steady', tiny)
  await giveImage({ home })
  const { pid } = await run(host, 'steady')
  begun.move()
  return {
    home,
    host,
    steadyPid: pid as number,
    async [Symbol.asyncDispose]() {
      const { host } = this as Scene
      for (const vm of await vmsOf(host))
        if (vm.status === 'running') await call(host, 'POST', `/svc/vms/${vm.name}/stop`)
      await host[Symbol.asyncDispose]()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

const vmsOf = async (host: VmHost): Promise<Vm[]> => (await call(host, 'GET', '/svc/vms'))[1] as unknown as Vm[]

/**
 * Kills the host when `part` of the cloning of a real guest is over, and boots every VM that is there afterwards; gives
 * the names of those that answered.
 */
export const bootedAfterKill = async (scene: Scene, part: number): Promise<string[]> => {
  await create(scene.host, 'guest', { ...small, image })
  const clone = (newName: string) => call(scene.host, 'POST', '/svc/vms/clone', { name: 'guest', newName })
  const started = performance.now()
  await clone('first')
  const took = performance.now() - started
  const cloning = clone('second').catch(() => undefined)
  await Bun.sleep(took * part)
  await scene.host.kill()
  await cloning
  scene.host = await startVmHost(['--port', '0'], scene.home)
  const answered: string[] = []
  for (const { name } of await vmsOf(scene.host)) {
    if (name === 'steady') continue
    await booted(await run(scene.host, name))
    if ((await call(scene.host, 'POST', `/svc/vms/${name}/stop`))[0] !== 200) throw new Error(`${name} does not stop`)
    if (checkDisk(join(scene.home, 'data/vms', name)) !== 0) throw new Error(`the disk of ${name} is not clean`)
    answered.push(name)
  }
  await clear(scene)
  return answered
}

interface Kind {
  /** Makes what the act needs. */
  prepare?(host: VmHost): Promise<unknown>
  act(host: VmHost, home: string): Promise<unknown>
}

/** Waits until an act that was answered has come to its end. */
const afterwards = async (host: VmHost, answer: ReturnType<typeof call>): Promise<void> => {
  const [, { operationId }] = await answer
  if (operationId === undefined) return
  await until('the end of the act', async () => {
    const [, { state }] = await call(host, 'GET', `/svc/operations/${operationId}`)
    return state !== 'running'
  })
}

/** What a host does when it is killed, by name. */
export const kinds: Readonly<Record<string, Kind>> = {
  create: {
    act: (host, home) => call(host, 'POST', '/svc/vms', { ...tiny, name: 'made', image: join(home, 'disk.raw') }),
  },
  clone: {
    prepare: (host) => create(host, 'source', { ...tiny, userData: '#cloud-config\n' }),
    act: (host) => call(host, 'POST', '/svc/vms/clone', { name: 'source', newName: 'cloned' }),
  },
  run: {
    prepare: (host) => create(host, 'source', tiny),
    act: (host) => afterwards(host, call(host, 'POST', '/svc/vms/source/run')),
  },
  set: {
    prepare: (host) => create(host, 'source', tiny),
    act: (host) => call(host, 'PATCH', '/svc/vms/source', { cpu: 2, diskSize: '128MB', memory: '48MB' }),
  },
  stop: {
    async prepare(host) {
      await create(host, 'source', tiny)
      await run(host, 'source')
    },
    act: (host) => call(host, 'POST', '/svc/vms/source/stop'),
  },
  move: {
    prepare: (host) => create(host, 'source', tiny),
    act: (host) => call(host, 'PATCH', '/svc/vms/source', { storage: 'other' }),
  },
  delete: {
    async prepare(host) {
      await create(host, 'source', tiny)
      await call(host, 'POST', '/svc/vms/clone', { name: 'source', newName: 'cloned' })
    },
    act: (host) => call(host, 'DELETE', '/svc/vms/cloned'),
  },
}

const durations = new Map<string, number>()

/** How long an act takes when nobody kills, measured once. */
const durationOf = async (kind: string, scene: Scene): Promise<number> => {
  const known = durations.get(kind)
  if (known !== undefined) return known
  const { prepare, act } = kinds[kind] as Kind
  await prepare?.(scene.host)
  const started = performance.now()
  await act(scene.host, scene.home)
  const took = performance.now() - started
  durations.set(kind, took)
  await clear(scene)
  return took
}

/**
 * Kills the host when `part` of an act is over, lets another take up its home, and gives everything that is not as it must
 * be; an empty list when all is well. VMs of the act are gone afterwards.
 */
export const killedDuring = async (scene: Scene, kind: string, part: number): Promise<string[]> => {
  const took = await durationOf(kind, scene)
  const { prepare, act } = kinds[kind] as Kind
  await prepare?.(scene.host)
  const acting = act(scene.host, scene.home).catch(() => undefined)
  await Bun.sleep(took * part)
  await scene.host.kill()
  await acting
  scene.host = await startVmHost(['--port', '0'], scene.home)
  const wrong = await faults(scene)
  await clear(scene)
  return wrong
}

/** What a VM's folder may hold when nobody is at work on it. */
const ownFiles = [
  'vm.json',
  'disk.qcow2',
  'seed',
  'run.json',
  'ended.json',
  'lock',
  'work.lock',
  'hypervisor.pid',
  'serial.log',
  'hypervisor.log',
]

/** What is wrong with a home after its host was killed. */
const faults = async ({ home, host, steadyPid }: Scene): Promise<string[]> => {
  const wrong: string[] = []
  const must = (holds: boolean, what: string) => void (holds || wrong.push(what))
  const steady = await get(host, 'steady')
  must(steady.status === 'running' && steady.pid === steadyPid && isAlive(steadyPid), 'steady does not run on')
  const vms = await vmsOf(host)
  for (const vm of vms) {
    const folder = join(home, vm.locationName === 'home' ? 'data/vms' : 'other', vm.name)
    must(vm.status === 'running' || vm.status === 'stopped', `${vm.name} is ${vm.status}`)
    must((vm.status === 'running') === isAlive(vm.pid), `${vm.name} is ${vm.status}, its process says otherwise`)
    must(vm.diskSize.total > 0, `${vm.name} has no disk`)
    must(vm.status === 'running' || checkDisk(folder) === 0, `the disk of ${vm.name} is not clean`)
    const odd = readdirSync(folder).filter((file) => !ownFiles.includes(file))
    must(odd.length === 0, `${vm.name} has ${odd}`)
    if (vm.status === 'running') continue
    for (const file of ['run.json', 'work.lock']) must(!existsSync(join(folder, file)), `${vm.name} has ${file}`)
  }
  for (const location of ['data/vms', 'other']) {
    const entries = existsSync(join(home, location)) ? readdirSync(join(home, location)) : []
    const known = vms.map(({ name }) => name)
    for (const entry of entries) must(entry === '.bases' || known.includes(entry), `${location}/${entry} is left`)
  }
  const running = vms.filter(({ pid }) => pid !== null)
  const sockets = existsSync(join(home, 'state/vm')) ? readdirSync(join(home, 'state/vm')) : []
  must(sockets.length === 2 * running.length, `sockets are left: ${sockets}`)
  const alive = processesOf(home).filter((pid) => !running.some((vm) => vm.pid === pid))
  must(alive.length === 0, `processes are left: ${alive}`)
  for (const vm of vms.filter(({ status }) => status === 'stopped')) {
    const { pid } = await run(host, vm.name)
    must(isAlive(pid), `${vm.name} cannot be started`)
  }
  const uuids = vms.map(({ uuid }) => uuid)
  must(new Set(uuids).size === uuids.length, 'two VMs have the same UUID')
  return wrong
}

/** Processes of tools and hypervisors that work in this home; only in namespaces of their own are there no others. */
const processesOf = (home: string): number[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
        return /^[^\0]*qemu-/.test(words) && words.includes(home)
      } catch {
        return false
      }
    })
    .map(Number)

/** Removes every VM but the one that runs all the time; what they lay on goes too. */
const clear = async ({ host, home }: Scene): Promise<void> => {
  for (const vm of await vmsOf(host)) {
    if (vm.name === 'steady') continue
    if (vm.pid !== null) {
      process.kill(vm.pid, 'SIGKILL')
      await until(
        'its end to be seen',
        async () => (await get(host, vm.name, `?storage=${vm.locationName}`)).status === 'stopped',
      )
    }
    const [status, answer] = await call(host, 'DELETE', `/svc/vms/${vm.name}?storage=${vm.locationName}`)
    if (status !== 200) throw new Error(`${vm.name} cannot be deleted: ${JSON.stringify(answer)}`)
  }
  const bases = join(home, 'data/vms/.bases')
  const left = existsSync(bases) ? readdirSync(bases) : []
  if (left.length > 0) throw new Error(`bases are left: ${left}`)
}
