import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runBacklot } from '../support/backlot.ts'
import { pythonClients } from '../support/python-clients.ts'
import { pythonWith } from '../support/python-with.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { create, get, giveImage, image } from '../support/vms.ts'

const minutes = 60_000
let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
  await giveImage(host)
})

afterAll(() => host[Symbol.asyncDispose]())

/** What a script of an unmodified client saw. */
const life = (script: string, ...packages: string[]) => lifeWith({}, script, ...packages)

const lifeWith = async (env: Record<string, string>, script: string, ...packages: string[]): Promise<unknown> => {
  const python = await pythonWith(...packages)
  const child = Bun.spawn([python, join(import.meta.dir, '../support/fixtures', script), String(host.port)], {
    env: { ...process.env, CUA_TELEMETRY_ENABLED: 'false', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(stderr)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

const post = (path: string, body: unknown = {}) =>
  fetch(`${host.url}/svc${path}`, { method: 'POST', body: JSON.stringify(body) })

test(
  'pylume makes a VM, changes, runs, stops, clones and deletes it',
  async () => {
    expect(await life('pylume_life.py', pythonClients.pylume)).toEqual({
      made: ['py', 'linux', 'stopped', 1, 64 * 2 ** 20, 2 ** 30],
      changed: 2,
      'never stopped': true,
      screen: true,
      list: ['py', 'py-copy'],
      left: [],
      gone: true,
    })
  },
  5 * minutes,
)

const withVm = (run: () => Promise<void>) => async () => {
  await create(host, 'py', { image })
  try {
    await run()
  } finally {
    for (const { name, status } of (await (await fetch(`${host.url}/svc/vms`)).json()) as Record<string, string>[]) {
      if (status !== 'stopped') await post(`/vms/${name}/stop`)
      await fetch(`${host.url}/svc/vms/${name}`, { method: 'DELETE' })
    }
  }
}

test(
  'cua-computer finds, runs, stops and deletes a VM',
  withVm(async () => {
    expect(await life('computer_life.py', pythonClients.computer)).toEqual({
      stopped: ['stopped', false],
      missing: true,
      run: false,
      address: expect.stringMatching(/^127\.77\.\d+\.\d+$/),
      deleted: true,
      gone: true,
    })
  }),
  5 * minutes,
)

test(
  'cua-sandbox forks a VM, keeps a checkpoint of the running one, and deletes both',
  withVm(async () => {
    expect(await life('sandbox_life.py', pythonClients.sandbox)).toEqual({
      base: 'py',
      address: expect.stringMatching(/^127\.77\.\d+\.\d+$/),
      ready: true,
      checkpoint: 'cua-ckpt-first',
      list: ['cua-ckpt-first', 'py', 'py-fork'],
      checkpoints: ['cua-ckpt-first'],
      left: ['py'],
    })
  }),
  5 * minutes,
)

test(
  'cua-sandbox starts a sandbox whole, finds it again, and resumes it; its screen is told to the guest through `lume`',
  withVm(async () => {
    const bin = join(host.home, 'bin')
    const shim = await runBacklot(['lume', 'install-shim', bin])
    expect(shim.status).toBe(0)
    const env = { PATH: `${bin}:${process.env.PATH}`, BACKLOT_HOST_URL: host.url }
    expect(await lifeWith(env, 'sandbox_start.py', pythonClients.sandbox)).toEqual({
      started: [expect.stringMatching(/^127\.77\.\d+\.\d+$/), 8000, 'py-box'],
      again: true,
      resumed: expect.stringMatching(/^127\.77\.\d+\.\d+$/),
      ready: true,
      // linux-minimal has no computer server behind its status.
      layers: expect.any(String),
    })
    const { vncUrl } = await get(host, 'py-box')
    const [, password, vncPort] = /^vnc:\/\/:(.+)@.+:(\d+)$/.exec(vncUrl ?? '') ?? []
    const told = await runBacklot(['vm', 'exec', 'py-box', 'cat ~/.vnc.env'], env)
    expect(told).toEqual({ stdout: `VNC_PORT=${vncPort}\nVNC_PASSWORD=${password}`, stderr: '', status: 0 })
  }),
  5 * minutes,
)
