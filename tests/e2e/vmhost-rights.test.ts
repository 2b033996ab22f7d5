import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { startVmHost } from '../support/vmhost.ts'
import { create, run, small } from '../support/vms.ts'

/** Numbers of linux/capability.h: kill, setuid, net_admin, net_raw, sys_module, sys_rawio, sys_ptrace, sys_admin, mknod. */
const neverNeeded = [5, 7, 12, 13, 16, 17, 19, 21, 27]

const isRefused = (port: number): Promise<boolean> =>
  new Promise((settle) => {
    const socket = connect(port, '127.0.0.1', () => settle(false))
    socket.on('error', () => settle(true))
  })

test('a hypervisor has its sandbox on, few of the rights of whoever started it, and nothing of the service', async () => {
  const host = await startVmHost()
  await create(host, 'confined', { ...small, memory: '32MB' })
  const { pid } = await run(host, 'confined', { sharedDirectories: [{ hostPath: host.home }] })
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\w+)`, 'm').exec(status)?.[1]
  expect([field('Seccomp'), field('NoNewPrivs')]).toEqual(['2', '1'])
  const rights = BigInt(`0x${field('CapEff')}`)
  expect(neverNeeded.filter((number) => rights & (1n << BigInt(number)))).toEqual([])
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
  const known = environment.map((entry) => entry.split('=')[0]).filter((name) => name !== 'TMPDIR')
  expect(known.sort()).toEqual(['LC_ALL', 'PATH'])
  // Whoever inherited the socket of the service would keep its port from the next one.
  await host.kill()
  expect(await isRefused(host.port)).toBe(true)
  process.kill(pid as number, 'SIGKILL')
  await host[Symbol.asyncDispose]()
})
