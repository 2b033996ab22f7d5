import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runBacklot } from '../support/backlot.ts'
import { seenBy, withVm } from '../support/python-clients.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { get, giveImage } from '../support/vms.ts'

const minutes = 60_000
let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
  await giveImage(host)
})

afterAll(() => host[Symbol.asyncDispose]())

test(
  'cua-sandbox starts a sandbox whole, finds it again, and resumes it; its screen is told to the guest through `lume`',
  () =>
    withVm(host, async () => {
      const bin = join(host.home, 'bin')
      const shim = await runBacklot(['lume', 'install-shim', bin])
      expect(shim.status).toBe(0)
      const env = { PATH: `${bin}:${process.env.PATH}`, BACKLOT_HOST_URL: host.url }
      expect(await seenBy(host, 'sandbox', 'sandbox_start.py', env)).toEqual({
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
