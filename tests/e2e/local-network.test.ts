/** What sandboxes with a network reach, and what they do not: this machine, by whatever address. */
import { describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { addressesHere } from '../../ts/local/network/closed-addresses.ts'
import { callers, homeOf, type Info, shellInside } from '../support/local.ts'
import { until } from '../support/until.ts'
import { startVmHost } from '../support/vmhost.ts'

const patience = 60_000

const run = (...words: string[]) => {
  const { exitCode, stderr } = Bun.spawnSync(words)
  if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
}

const isHere = (address: string): boolean =>
  Object.values(networkInterfaces()).some((each) => each?.some((one) => one.address === address))

/**
 * Another machine with a server on port 8099, at 198.51.100.2 (for documentation, RFC 5737), and this one at 198.51.100.1.
 * Only where this test has a network of its own.
 */
const startNeighbour = async () => {
  const child = Bun.spawn(
    ['unshare', '--net', '--', 'sh', '-c', 'echo ready; read line; exec python3 -m http.server 8099'],
    { cwd: '/usr/share', stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' },
  )
  await child.stdout.getReader().read()
  const at = ['nsenter', `--net=/proc/${child.pid}/ns/net`, '--']
  run('ip', 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far', 'netns', String(child.pid))
  run('ip', 'address', 'add', '198.51.100.1/24', 'dev', 'near')
  run('ip', 'link', 'set', 'near', 'up')
  run(...at, 'ip', 'address', 'add', '198.51.100.2/24', 'dev', 'far')
  run(...at, 'ip', 'link', 'set', 'far', 'up')
  run(...at, 'ip', 'link', 'set', 'lo', 'up')
  child.stdin.write('\n')
  child.stdin.flush()
  await until('the other machine to serve', () =>
    fetch('http://198.51.100.2:8099/').then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
      await until('its link to go', () => !isHere('198.51.100.1'))
    },
  }
}

/** Lets every user of this test's own mounts make networks, as systems do that are installed. */
const shareTunnels = (): Disposable => {
  run('mknod', '-m', '666', '/tmp/tun', 'c', '10', '200')
  run('mount', '--bind', '/tmp/tun', '/dev/net/tun')
  return {
    [Symbol.dispose]() {
      run('umount', '/dev/net/tun')
      rmSync('/tmp/tun')
    },
  }
}

const call = (info: Info, address: string, port: number | undefined): Promise<string> =>
  shellInside(
    info,
    `python3 -c "import urllib.request as u; print(u.urlopen('http://${address}:${port}', timeout=5).status)" 2>&1 | tail -1`,
  )

const closed = /Permission denied|Network is unreachable|Connection refused/

/** A network of this test's own, as tests have it that run apart: nothing in it but the loopback, and who made it may change it. */
const isApart = process.getuid?.() === 0 && addressesHere().length === 0

describe.skipIf(!isApart).each(callers)('a sandbox of %s', (caller) => {
  test(
    'with the network of the host reaches other machines, and this one by none of its addresses',
    async () => {
      using _tunnels = shareTunnels()
      await using _ = await startNeighbour()
      await using home = homeOf(caller)
      using server = Bun.serve({ port: 0, hostname: '0.0.0.0', fetch: () => new Response('reached') })
      expect((await fetch(`http://198.51.100.1:${server.port}`)).status).toBe(200)
      const info = await home.start('--network', 'internet')
      expect(await call(info, '198.51.100.2', 8099)).toBe('200\n')
      for (const address of ['198.51.100.1', '198.51.100.255', '10.0.2.2', '0.0.0.1', '169.254.169.254', '224.0.0.1']) {
        expect([address, await call(info, address, server.port)]).toEqual([address, expect.stringMatching(closed)])
      }
      // An address that comes later is closed too.
      run('ip', 'address', 'add', '203.0.113.1/32', 'dev', 'lo')
      try {
        expect((await fetch(`http://203.0.113.1:${server.port}`)).status).toBe(200)
        await until('the new address to be closed', async () =>
          closed.test(await call(info, '203.0.113.1', server.port)),
        )
        expect(await call(info, '198.51.100.2', 8099)).toBe('200\n')
      } finally {
        run('ip', 'address', 'del', '203.0.113.1/32', 'dev', 'lo')
      }
      // Programs inside cannot open it again.
      const undo =
        'ip route del prohibit 198.51.100.1; unshare --user --map-root-user ip route del prohibit 198.51.100.1'
      expect(await shellInside(info, `${undo}; true`)).toMatch(/Operation not permitted/)
      expect(await call(info, '198.51.100.1', server.port)).toMatch(closed)
      expect(await call(await home.start('--network', 'none'), '198.51.100.2', 8099)).toContain(
        'Network is unreachable',
      )
    },
    patience,
  )

  test(
    'is refused by the service for VMs, with a network and without',
    async () => {
      using _tunnels = shareTunnels()
      await using _ = await startNeighbour()
      await using home = homeOf(caller)
      await using host = await startVmHost()
      const { port } = new URL(host.url)
      expect((await fetch(`${host.url}/svc/host/status`)).ok).toBe(true)
      for (const network of ['internet', 'loopback', 'none']) {
        const info = await home.start('--network', network)
        for (const address of ['127.0.0.1', '10.0.2.2', '198.51.100.1']) {
          expect([network, address, await call(info, address, Number(port))]).toEqual([
            network,
            address,
            expect.stringMatching(closed),
          ])
        }
      }
    },
    patience,
  )
})

test('the addresses of a machine are those of all its networks, and those by which the networks are called', () => {
  const one = (address: string, netmask: string, family: 'IPv4' | 'IPv6' = 'IPv4') =>
    ({ address, netmask, family, internal: false, mac: '', cidr: null }) as never
  expect(
    addressesHere({
      lo: [one('127.0.0.1', '255.0.0.0'), one('192.0.2.9', '255.255.255.255')],
      eth0: [one('10.1.2.3', '255.255.0.0'), one('fe80::1', 'ffff::', 'IPv6')],
    }),
  ).toEqual(['10.1.2.3', '10.1.255.255', '192.0.2.9'])
})
