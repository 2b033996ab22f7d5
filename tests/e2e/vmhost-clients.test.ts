import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { pythonWith } from '../support/python-with.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { create, giveImage, image } from '../support/vms.ts'

const minutes = 60_000
let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
  await giveImage(host)
})

afterAll(() => host[Symbol.asyncDispose]())

/** What a script of an unmodified client saw. */
const life = async (script: string, ...packages: string[]): Promise<unknown> => {
  const python = await pythonWith(...packages)
  const child = Bun.spawn([python, join(import.meta.dir, '../support/fixtures', script), String(host.port)], {
    env: { ...process.env, CUA_TELEMETRY_ENABLED: 'false' },
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
    expect(await life('pylume_life.py', 'pylume==0.2.1')).toEqual({
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
    expect(await life('computer_life.py', 'cua-computer==0.4.10')).toEqual({
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
    expect(await life('sandbox_life.py', 'cua-sandbox==0.8.0')).toEqual({
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
