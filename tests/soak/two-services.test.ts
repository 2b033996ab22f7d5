/**
 * Two services that act on the same VMs at the same time and are killed meanwhile: nothing is lost that was reported made, every
 * disk is whole, and of two services of one home only one acts.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Operation } from '@backlot/contract/vmhost/operation'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { limitMs, rounds } from '../support/soak.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, checkDisk, isAlive, small } from '../support/vms.ts'

setDefaultTimeout(limitMs(290_000))

/** Operations that are asked for, and after how many everything is looked at. */
const asked = rounds(200)
const lookEvery = 25
/** Operations that go on at the same time. */
const workers = 4
const megabyte = 2 ** 20
/** Milliseconds after which what is shown must be so. */
const settlesWithinMs = 10_000

/** Codes of what may be refused when others act on the same VMs. */
const refusals = [
  ...['vm_not_found', 'vm_exists', 'vm_running', 'vm_not_running', 'vm_busy', 'already_running', 'cancelled'],
  ...['disk_not_shrunk', 'disk_in_use'],
]

/** Numbers below 1 that are the same for the same seed (xorshift32). */
const numbersOf = (seed: number) => {
  let state = seed || 1
  return (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** A place for VMs: its name in either service, and its folder. */
interface Place {
  readonly name: string
  readonly path: string
}

interface Scene {
  readonly root: string
  /** Starts one of the two again. */
  readonly start: readonly (() => Promise<VmHost>)[]
  /** Where each service may make VMs; the first is that of both. */
  readonly places: readonly (readonly Place[])[]
  readonly isOneHome: boolean
}

/** What is known of a VM by the answers. */
interface Known {
  /** The folders that it may be in: where it was made, or a move may have brought it. */
  readonly places: Set<string>
  /** Megabytes that its disk may have. */
  readonly sizes: Set<number>
  state: 'made' | 'perhaps' | 'gone'
}

class Soak {
  readonly #random: () => number
  readonly known = new Map<string, Known>()
  readonly wrong: string[] = []
  readonly counts: Record<string, number> = {}
  hosts: VmHost[] = []
  #names = 0

  constructor(
    readonly scene: Scene,
    seed: number,
  ) {
    this.#random = numbersOf(seed)
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item
  }

  /** Asks a service for something; undefined where it was killed meanwhile. */
  async #ask(
    at: number,
    what: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<'done' | 'refused' | undefined> {
    const host = this.hosts[at] as VmHost
    const told = await call(host, method, path, body).catch(() => undefined)
    const count = (outcome: string) => {
      const key = `${what} ${outcome}`
      this.counts[key] = (this.counts[key] ?? 0) + 1
    }
    if (told === undefined) {
      count('unanswered')
      return undefined
    }
    const [status, { code, message, operationId }] = told
    if (status === 202) {
      const operation = await this.#ended(host, String(operationId))
      count(operation?.state ?? 'unanswered')
      if (operation?.state === 'failed') this.#judge(what, operation.cause?.code, operation.cause?.message)
      return operation === undefined ? undefined : operation.state === 'done' ? 'done' : 'refused'
    }
    count(status === 200 ? 'done' : String(code))
    if (status === 200) return 'done'
    this.#judge(what, code, message)
    return 'refused'
  }

  #judge(what: string, code: unknown, message: unknown): void {
    // Its hypervisor was the one that was killed.
    const isKilled = code === 'hypervisor_lost' || (code === 'hypervisor_failed' && String(message).includes('SIGKILL'))
    if (!isKilled && !refusals.includes(String(code))) this.wrong.push(`${what}: ${code}: ${message}`)
  }

  async #ended(host: VmHost, id: string): Promise<Operation | undefined> {
    for (;;) {
      const told = await call(host, 'GET', `/svc/operations/${id}`).catch(() => undefined)
      if (told === undefined) return undefined
      const operation = told[1] as unknown as Operation
      if (operation.state !== 'running') return operation
      await Bun.sleep(20)
    }
  }

  /** Makes a VM by `how`, and keeps what is known of it then. */
  async #make(
    at: number,
    what: string,
    place: Place,
    size: Set<number>,
    how: (name: string) => readonly [string, object],
  ) {
    const name = `v${++this.#names}`
    const vm: Known = { places: new Set([place.path]), sizes: size, state: 'perhaps' }
    this.known.set(name, vm)
    const outcome = await this.#ask(at, what, 'POST', ...how(name))
    if (outcome === 'done') vm.state = 'made'
    if (outcome === 'refused') vm.state = 'gone'
  }

  /** Does one thing that chance chooses. */
  async act(): Promise<void> {
    const at = this.#random() < 0.5 ? 0 : 1
    const mine = this.scene.places[at] as readonly Place[]
    const alive = [...this.known].filter(([, { state }]) => state !== 'gone')
    const chance = this.#random()
    if (chance < 0.04) return this.#kill(at)
    if (chance < 0.07) return this.#killHypervisor()
    if (alive.length < 3 || chance < 0.17) {
      const image = join(this.scene.root, 'disk.raw')
      const how = (name: string) =>
        ['/svc/vms', { ...small, memory: '32MB', diskSize: '8MB', name, image, storage: mine[0]?.name }] as const
      return this.#make(at, 'create', mine[0] as Place, new Set([8]), how)
    }
    const [name, vm] = this.#pick(alive)
    const likely = mine.filter(({ path }) => vm.places.has(path))
    const place = this.#pick(likely.length > 0 && (chance * 1_000) % 1 < 0.8 ? likely : mine)
    const query = `?storage=${place.name}`
    if (chance < 0.37) {
      const how = (newName: string) =>
        ['/svc/vms/clone', { name, newName, sourceLocation: place.name, destLocation: place.name }] as const
      return this.#make(at, 'clone', place, vm.sizes, how)
    }
    if (chance < 0.57) {
      await this.#ask(at, 'run', 'POST', `/svc/vms/${name}/run`, { noDisplay: true, storage: place.name })
      return
    }
    if (chance < 0.74) {
      await this.#ask(at, 'stop', 'POST', `/svc/vms/${name}/stop`, { graceSeconds: 0, storage: place.name })
      return
    }
    if (chance < 0.82) {
      const size = 8 + Math.floor(this.#random() * 8)
      vm.sizes.add(size)
      const body = { diskSize: `${size}MB`, sourceLocation: place.name }
      await this.#ask(at, 'set', 'PATCH', `/svc/vms/${name}`, body)
      return
    }
    if (chance < 0.9) {
      const to = this.#pick(mine)
      vm.places.add(to.path)
      await this.#ask(at, 'move', 'PATCH', `/svc/vms/${name}`, { storage: to.name, sourceLocation: place.name })
      return
    }
    // From here on it may be gone.
    const before = vm.state
    vm.state = 'perhaps'
    const outcome = await this.#ask(at, 'delete', 'DELETE', `/svc/vms/${name}${query}`)
    if (outcome === 'done') vm.state = 'gone'
    if (outcome === 'refused' && vm.state === 'perhaps') vm.state = before
  }

  async #kill(at: number): Promise<void> {
    const host = this.hosts[at] as VmHost
    if (this.#restarting.has(at)) return
    this.#restarting.add(at)
    this.counts['kill service'] = (this.counts['kill service'] ?? 0) + 1
    await host.kill()
    this.hosts[at] = await (this.scene.start[at] as () => Promise<VmHost>)()
    this.#restarting.delete(at)
  }

  readonly #restarting = new Set<number>()

  async #killHypervisor(): Promise<void> {
    const found = hypervisorsIn(this.scene.root)
    if (found.length === 0) return
    this.counts['kill hypervisor'] = (this.counts['kill hypervisor'] ?? 0) + 1
    try {
      process.kill(this.#pick(found).pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }

  /** The records of all VMs, by service. */
  async records(): Promise<Vm[][]> {
    return Promise.all(this.hosts.map(async (host) => (await call(host, 'GET', '/svc/vms'))[1] as unknown as Vm[]))
  }

  /** What both say of all VMs, and the hypervisors that live, once they agree: the end of one is seen a moment after it. */
  async #settled() {
    const deadline = performance.now() + settlesWithinMs
    for (;;) {
      const [records, running] = [await this.records(), hypervisorsIn(this.scene.root)]
      const isSettled = records
        .flat()
        .every(({ status, name }) => (status === 'running') === running.some((each) => isOf(each, name)))
      if (isSettled || performance.now() > deadline) return { records, running }
      await Bun.sleep(100)
    }
  }

  /** Whatever is not as it must be while nobody acts. */
  async look(): Promise<void> {
    const must = (holds: boolean, what: string) => void (holds || this.wrong.push(what))
    const { root } = this.scene
    if (this.scene.isOneHome) {
      // Both are asked at the same time.
      const names = [`v${++this.#names}`, `v${++this.#names}`]
      const both = await Promise.all(
        names.map((name, at) =>
          call(this.hosts[at] as VmHost, 'POST', '/svc/vms', { ...small, memory: '32MB', diskSize: '8MB', name }),
        ),
      )
      const outcomes = both.map(([status, { code }]) => (status === 200 ? 'done' : String(code))).sort()
      must(String(outcomes) === 'already_running,done', `both services act, or none: ${outcomes}`)
      for (const [index, [status]] of both.entries()) {
        const [name = '', host] = [names[index], this.hosts[index] as VmHost]
        if (status === 200) must((await call(host, 'DELETE', `/svc/vms/${name}`))[0] === 200, `${name} is not deleted`)
      }
    }
    const { records, running } = await this.#settled()
    for (const [name, known] of this.known) {
      const { places, sizes, state } = known
      const folders = [...places]
        .map((path) => join(path, name))
        .filter((folder) => existsSync(join(folder, 'vm.json')))
      if (state === 'made') must(folders.length > 0, `${name} was reported made and is lost`)
      if (state === 'gone') must(folders.length === 0, `${name} was reported gone and is in ${folders}`)
      must(folders.length < 2, `${name} is in ${folders}`)
      // Whatever came of what was never answered, it holds from now on.
      if (state === 'perhaps') known.state = folders.length > 0 ? 'made' : 'gone'
      const alive = running.filter((each) => isOf(each, name))
      must(alive.length < 2, `${name} has ${alive.length} hypervisors`)
      const shown = records.flat().filter((vm) => vm.name === name)
      must(shown.filter(({ pid }) => pid !== null).length < 2, `${name} is looked after by both`)
      for (const vm of shown) {
        must(['running', 'stopped'].includes(vm.status), `${name} is ${vm.status}: ${vm.lastError}`)
        const isRunning = vm.pid === null ? alive.length > 0 : isAlive(vm.pid)
        must((vm.status === 'running') === isRunning, `${name} is ${vm.status}, its process says otherwise`)
      }
      if (alive.length > 0) continue
      for (const folder of folders) {
        must(checkDisk(folder) === 0, `the disk of ${name} is not clean`)
        must(contains(join(folder, 'disk.qcow2'), join(root, 'disk.raw')), `the disk of ${name} has other content`)
        const size = sizeOf(join(folder, 'disk.qcow2')) / megabyte
        must(sizes.has(size), `the disk of ${name} has ${size} MB, not one of ${[...sizes]}`)
      }
    }
  }

  /** Stops and deletes everything, after which nothing is left. */
  async clear(): Promise<void> {
    for (const host of this.hosts) {
      const vms = ((await call(host, 'GET', '/svc/vms'))[1] as unknown as Vm[]) ?? []
      for (const { name, status, locationName } of vms) {
        const body = { graceSeconds: 0, storage: locationName }
        if (status === 'running') await call(host, 'POST', `/svc/vms/${name}/stop`, body)
      }
    }
    for (const host of this.hosts) {
      for (const { name, locationName } of (await call(host, 'GET', '/svc/vms'))[1] as unknown as Vm[]) {
        const [status, answer] = await call(host, 'DELETE', `/svc/vms/${name}?storage=${locationName}`)
        const isOther = this.scene.isOneHome && answer.code === 'already_running'
        if (status !== 200 && !isOther) this.wrong.push(`${name} is not deleted: ${JSON.stringify(answer)}`)
      }
    }
    for (const host of this.hosts) await host.end()
    // Whoever comes next removes what those that were killed have left.
    for (const start of this.scene.start) await (await start()).end()
    for (const { path } of this.scene.places.flat()) {
      const left = existsSync(path) ? readdirSync(path) : []
      if (left.length > 0) this.wrong.push(`${path} has ${left}`)
    }
    const alive = hypervisorsIn(this.scene.root)
    if (alive.length > 0) this.wrong.push(`hypervisors are left: ${alive.map(({ pid }) => pid)}`)
  }
}

const isOf = ({ words }: { words: string }, name: string): boolean => words.includes(`/${name}/disk.qcow2`)

/** The hypervisors that live in this folder; only in namespaces of their own are there no others. */
const hypervisorsIn = (root: string): { pid: number; words: string }[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      try {
        const words = readFileSync(`/proc/${entry}/cmdline`, 'latin1')
        return /^[^\0]*qemu-system/.test(words) && words.includes(root) ? [{ pid: Number(entry), words }] : []
      } catch {
        return []
      }
    })

/** Whether a disk begins with what the file holds, and has nothing behind it. */
const contains = (disk: string, file: string): boolean =>
  Bun.spawnSync(['qemu-img', 'compare', '-q', '-f', 'qcow2', '-F', 'raw', disk, file]).exitCode === 0

const sizeOf = (disk: string): number =>
  JSON.parse(Bun.spawnSync(['qemu-img', 'info', '--output=json', disk]).stdout.toString())['virtual-size']

const soak = async (scene: Scene): Promise<void> => {
  const seed = crypto.getRandomValues(new Uint32Array(1))[0] as number
  const soak = new Soak(scene, seed)
  for (const start of scene.start) soak.hosts.push(await start())
  for (let done = 0; done < asked && soak.wrong.length === 0; done += lookEvery) {
    let left = Math.min(lookEvery, asked - done)
    const work = async () => {
      while (left-- > 0) await soak.act()
    }
    await Promise.all(Array.from({ length: workers }, work))
    await until('everything that was begun to have ended', async () => {
      const records = (await soak.records()).flat()
      return !records.some(({ status }) => status === 'starting' || status === 'provisioning')
    })
    await soak.look()
  }
  await soak.clear()
  console.log(JSON.stringify({ seed, ...soak.counts }))
  expect({ seed, wrong: soak.wrong }).toEqual({ seed, wrong: [] })
}

/** A folder with the disk file that VMs are made of. */
const openRoot = () => {
  const root = mkdtempSync(join(tmpdir(), 'backlot-two-'))
  writeFileSync(join(root, 'disk.raw'), crypto.getRandomValues(Buffer.alloc(65_536)))
  Bun.spawnSync(['truncate', '-s', '1M', join(root, 'disk.raw')])
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

/** Adds a location, which stays in the settings of a home. */
const locate = async (host: VmHost, name: string, path: string) => {
  await call(host, 'POST', '/svc/config/locations', { name, path })
  return host
}

test(`one home, by two paths and in two login sessions: ${asked} operations`, async () => {
  using scene = openRoot()
  const { root } = scene
  const [home, alias] = [join(root, 'home'), join(root, 'alias')]
  mkdirSync(home)
  symlinkSync(home, alias)
  const start = [home, alias].map((path, index) => async () => {
    const session = join(root, `session${index}`)
    // At the end of a session its folder goes.
    rmSync(session, { recursive: true, force: true })
    mkdirSync(session)
    const host = await startVmHost(['--port', '0'], home, { BACKLOT_HOME: path, XDG_RUNTIME_DIR: session })
    return locate(host, 'other', join(root, 'other'))
  })
  const both = [
    { name: 'home', path: join(home, 'data/vms') },
    { name: 'other', path: join(root, 'other') },
  ]
  await soak({ root, start, places: [both, both], isOneHome: true })
})

test(`two homes that keep VMs in one folder, by two paths: ${asked} operations`, async () => {
  using scene = openRoot()
  const { root } = scene
  const [shared, alias] = [join(root, 'shared'), join(root, 'alias')]
  mkdirSync(shared)
  symlinkSync(shared, alias)
  const homes = ['one', 'two'].map((name) => join(root, name))
  const start = homes.map((home, index) => async () => {
    mkdirSync(home, { recursive: true })
    return locate(await startVmHost(['--port', '0'], home), 'nas', index === 0 ? shared : alias)
  })
  const places = homes.map((home) => [
    { name: 'nas', path: shared },
    { name: 'home', path: join(home, 'data/vms') },
  ])
  await soak({ root, start, places, isOneHome: false })
})
