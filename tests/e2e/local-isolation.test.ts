/** What a program in a sandbox finds of the machine around it: each thing is there, and tried from inside. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startComputer } from '../support/computer.ts'
import { attemptInside, callers, homeOf, type Info, shellInside, type TestHome } from '../support/local.ts'
import { proving } from '../support/proves.ts'
import { scratchFolder } from '../support/scratch.ts'

const patience = 60_000

/** The first process of the sandbox, by its number outside. */
const initOf = (home: TestHome, { name }: Info): number => {
  const run = JSON.parse(readFileSync(join(home.sandboxes, name, 'run.json'), 'utf8')) as { init: { pid: number } }
  return run.init.pid
}

const refused = /^(?:FileNotFoundError|ProcessLookupError|ConnectionRefusedError|PermissionError|TimeoutError|OSError)$/

describe.each(callers)('from a sandbox of %s', (caller) => {
  test(
    'no file of the host is seen but its programs, and none is written to',
    proving(['sandbox.never-host'], async () => {
      await using home = homeOf(caller)
      const folder = scratchFolder('secret')
      writeFileSync(join(folder, 'file'), 'secret')
      const info = await home.start()
      for (const path of [folder, home.folder, '/root', '/etc/shadow', '/sys/kernel', '/work', '/boot', '/media']) {
        expect([path, await shellInside(info, `ls ${path} 2>&1 | grep -c .`)]).toEqual([path, '1\n'])
        expect(
          await attemptInside(info, `os.listdir('${path}') if os.path.isdir('${path}') else open('${path}')`),
        ).toMatch(refused)
      }
      expect(await shellInside(info, 'ls /home; cut -d: -f1 /etc/passwd')).toBe('user\nroot\nuser\nnobody\n')
      expect(await shellInside(info, 'env | grep -c BACKLOT_HOME')).toBe('0\n')
      for (const path of ['/usr/bin/new', '/etc/new', '/new', '/run/backlot-program/backlot']) {
        expect(await attemptInside(info, `open('${path}', 'w')`)).toMatch(/^(?:OSError|PermissionError)$/)
      }
    }),
    patience,
  )

  test(
    'no settings of the kernel are changed, which even a user without rights may own',
    async () => {
      await using home = homeOf(caller)
      const info = await home.start()
      const settings = ['kernel/core_pattern', 'kernel/modprobe', 'vm/drop_caches', 'kernel/hostname']
      for (const name of settings) {
        expect(await attemptInside(info, `open('/proc/sys/${name}', 'w').write('x')`)).toMatch(refused)
      }
      expect(await attemptInside(info, "open('/proc/sysrq-trigger', 'w').write('x')")).toMatch(refused)
      // Its programs are nobody that owns anything here, seen from outside.
      const [, uid] = /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${initOf(home, info)}/status`, 'utf8')) ?? []
      expect(Number(uid)).toBeGreaterThan(0)
      expect(await shellInside(info, 'grep -h CapEff /proc/self/status; grep -h NoNewPrivs /proc/self/status')).toBe(
        'CapEff:\t0000000000000000\nNoNewPrivs:\t1\n',
      )
    },
    patience,
  )

  test(
    'no process of the host is seen, signalled or traced, and none of another sandbox',
    async () => {
      await using home = homeOf(caller)
      const [info, other] = [await home.start(), await home.start()]
      await shellInside(other, 'setsid sleep 4321 >/dev/null 2>&1 &')
      const pids = (await shellInside(info, 'ls /proc')).split('\n').filter((entry) => /^\d+$/.test(entry))
      expect(pids).toContain('1')
      expect(await shellInside(info, "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 432[1]'")).toBe('0\n')
      const outside = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && !pids.includes(entry))
      expect(outside.length).toBeGreaterThan(0)
      for (const pid of outside.slice(0, 20)) {
        expect(await attemptInside(info, `os.kill(${pid}, 0)`)).toMatch(/^(?:ProcessLookupError|done)$/)
      }
      expect(process.kill(process.pid, 0)).toBe(true)
      expect(await shellInside(info, 'readlink /proc/self/ns/pid')).not.toBe(
        await shellInside(other, 'readlink /proc/self/ns/pid'),
      )
    },
    patience,
  )

  test(
    'displays, buses and sockets of the host are out of reach, abstract ones too, and its own from outside',
    async () => {
      await using home = homeOf(caller)
      await using server = Bun.spawn(['Xvfb', '-displayfd', '1', '-nolisten', 'tcp', '-listen', 'local'], {
        stdout: 'pipe',
        stderr: 'ignore',
      })
      const { value } = await server.stdout.getReader().read()
      const display = new TextDecoder().decode(value).trim()
      const name = `backlot-test-${process.pid}`
      const python = [
        'import socket,sys',
        's=socket.socket(socket.AF_UNIX)',
        's.bind(sys.argv[1].replace("@","\\0"))',
        's.listen()',
        'print("listening",flush=True)',
        'sys.stdin.read()',
      ].join('\n')
      await using abstract = Bun.spawn(['python3', '-c', python, `@${name}`], { stdin: 'pipe', stdout: 'pipe' })
      await abstract.stdout.getReader().read()
      const info = await home.start()
      expect(await attemptInside(info, `connect(socket.AF_UNIX, '\\0${name}')`)).toBe('ConnectionRefusedError')
      const own = (await shellInside(info, 'echo $DISPLAY')).trim()
      for (const address of [`/tmp/.X11-unix/X${display}`, `\\0/tmp/.X11-unix/X${display}`]) {
        if (own === `:${display}`) continue
        expect(await attemptInside(info, `connect(socket.AF_UNIX, '${address}')`)).toMatch(refused)
      }
      for (const path of ['/run/dbus/system_bus_socket', '/run/user/0/bus', '/var/run/docker.sock']) {
        expect(await attemptInside(info, `connect(socket.AF_UNIX, '${path}')`)).toBe('FileNotFoundError')
      }
      // The sandbox has a display of its own, whose abstract socket nobody outside meets.
      expect(await shellInside(info, 'xdpyinfo | grep -c dimensions')).toBe('1\n')
      expect(readdirSync(join('/proc', String(initOf(home, info)), 'root', 'tmp/.X11-unix'))).toEqual([
        `X${own.replace(':', '')}`,
      ])
      abstract.stdin.end()
    },
    patience,
  )

  test(
    'the loopback of the host is out of reach, with all that listens there, also with a network',
    async () => {
      await using home = homeOf(caller)
      using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('host') })
      await using computer = await startComputer()
      const ports = [server.port, new URL(computer.url).port]
      const networks = caller === 'root' ? ['none', 'loopback', 'internet'] : ['none', 'loopback']
      for (const network of networks) {
        const info = await home.start('--network', network)
        for (const port of ports) {
          for (const host of ['127.0.0.1', '10.0.2.2']) {
            const said = await attemptInside(info, `connect(socket.AF_INET, ('${host}', ${port}))`)
            expect([network, host, said]).toEqual([network, host, expect.stringMatching(refused)])
          }
        }
        // Its own it has: programs speak with each other over it.
        expect(
          await attemptInside(
            info,
            "s = socket.create_server(('127.0.0.1', 0)); connect(socket.AF_INET, s.getsockname())",
          ),
        ).toBe('done')
      }
    },
    patience,
  )

  test(
    'the way to another sandbox is closed, whose server asks for a key from everybody',
    async () => {
      await using home = homeOf(caller)
      const [info, other] = [await home.start(), await home.start()]
      expect(await attemptInside(info, `connect(socket.AF_INET, ('127.0.0.1', ${other.api_port}))`)).toBe(
        'ConnectionRefusedError',
      )
      expect((await fetch(`${other.api_url}/commands`, { headers: { 'X-API-Key': info.api_key } })).status).toBe(401)
    },
    patience,
  )
})
