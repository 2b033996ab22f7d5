import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { vmHost } from '@backlot/contract/vmhost'
import type { NetworkInterface } from '@backlot/contract/vmhost/guest'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { startCommandHost } from '../support/command-host.ts'
import { onTerminal } from '../support/terminal.ts'
import { until } from '../support/until.ts'
import type { VmHost } from '../support/vmhost.ts'

let host: VmHost
let env: Record<string, string>

beforeAll(async () => {
  ;({ host, env } = await startCommandHost())
})

afterAll(async () => {
  for (const { name, status } of await data<Vm[]>('vm', 'ls')) {
    if (status !== 'stopped') await runBacklot(['vm', 'stop', name], env)
  }
  await host[Symbol.asyncDispose]()
})

/** What a command prints into a pipe. */
const data = async <Value = Record<string, unknown>>(...args: string[]): Promise<Value> => {
  const call = await runBacklot(args, env)
  if (call.status !== 0) throw new Error(`${args.join(' ')}: ${call.stderr}`)
  expect(call.stderr).toBe('')
  return JSON.parse(call.stdout) as Value
}

describe('vm', () => {
  test('a name alone makes a VM that starts, and each command tells a pipe in JSON what it did', async () => {
    expect(await data<Vm[]>('vm', 'ls')).toEqual([])
    const made = await data<Vm>('vm', 'create', 'one')
    expect(made).toMatchObject({ name: 'one', status: 'stopped', image: 'linux-minimal:latest', os: 'linux' })
    expect((await data<Vm>('vm', 'run', 'one', '--detach')).status as string).toBe('pending')
  })

  test('a command is run in a guest that was started just before, and adds what it says to a file', async () => {
    const file = join(host.home, 'said')
    await writeFile(file, 'before\n')
    const exec = async (command: string, seconds: string) => {
      const words = backlotCommand('vm', 'exec', 'one', command, '--timeout-seconds', seconds)
      const child = Bun.spawn(['sh', '-c', '"$@" >>"$0" 2>&1', file, ...words], { env: { ...process.env, ...env } })
      return child.exited
    }
    expect(await exec('echo out', '180')).toBe(0)
    expect(await exec('echo error >&2; exit 3', '60')).toBe(3)
    expect(await exec('nproc', '60')).toBe(0)
    // An agent that gets no processor for longer than it takes to find that a guest has none.
    expect(await exec('kill -STOP $PPID; sleep 7; kill -CONT $PPID; echo woken', '60')).toBe(0)
    expect(await Bun.file(file).text()).toBe('before\nout\nerror\n2\nwoken\n')
  })

  test('what a command writes comes while it runs, all of it, and an interruption ends it', async () => {
    const script = 'echo first; echo aside >&2; while [ ! -e /run/goes-on ]; do sleep 0.1; done; seq 1 60000; exit 4'
    const child = Bun.spawn(backlotCommand('vm', 'exec', 'one', script), {
      ...{ env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' },
    })
    const said = child.stderr.text()
    let text = ''
    const reading = (async () => {
      for await (const part of child.stdout) text += new TextDecoder().decode(part)
    })()
    await until('the first line', () => text === 'first\n')
    expect((await runBacklot(['vm', 'exec', 'one', 'touch /run/goes-on; ls /tmp'], env)).stdout).toBe('')
    await reading
    const numbers = Array.from({ length: 60_000 }, (_, index) => `${index + 1}\n`)
    expect([await child.exited, await said, text]).toEqual([4, 'aside\n', `first\n${numbers.join('')}`])
    const slow = Bun.spawn(backlotCommand('vm', 'exec', 'one', 'echo begun; sleep 4321'), {
      ...{ env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' },
    })
    await slow.stdout.getReader().read()
    slow.kill('SIGINT')
    expect([await slow.exited, await slow.stderr.text()]).toEqual([1, expect.stringContaining('interrupted')])
    const gone = new AbortController()
    const plain = fetch(`${host.url}/svc/vms/one/exec`, {
      ...{ method: 'POST', signal: gone.signal, headers: { 'Content-Type': 'application/json' } },
      body: JSON.stringify({ command: 'touch /run/asked; sleep 4321', timeoutSeconds: 3600 }),
    }).catch((error) => error)
    const running = 'ps | grep -c "[s]leep 4321"'
    const count = async (command: string) => (await runBacklot(['vm', 'exec', 'one', command], env)).stdout
    await until('what is answered at its end', async () => (await count(`[ -e /run/asked ] && ${running}`)) !== '')
    gone.abort()
    expect(await plain).toMatchObject({ name: 'AbortError' })
    await until('the end of both commands', async () => (await count(running)) === '0\n')
  })

  test('what a command reads comes while it runs, of any length, and either of the two may end first', async () => {
    const unheard = fetch(`${host.url}/svc/vms/one/exec/${crypto.randomUUID()}/input`, { method: 'POST', body: 'x' })
    const begin = (stdin: 'pipe' | Blob, ...words: string[]) =>
      Bun.spawn(backlotCommand('vm', 'exec', 'one', ...words), {
        ...{ env: { ...process.env, ...env }, stdin, stdout: 'pipe', stderr: 'pipe' },
      })
    const child = begin('pipe', 'cat; echo end')
    const stdin = child.stdin as Bun.FileSink
    let text = ''
    const reading = (async () => {
      for await (const part of child.stdout) text += new TextDecoder().decode(part)
    })()
    for (const [line, all] of [
      ['one\n', 'one\n'],
      ['two\n', 'one\ntwo\n'],
    ] as const) {
      stdin.write(line)
      await stdin.flush()
      await until(`the echo of ${line}`, () => text === all)
    }
    await stdin.end()
    await reading
    expect([await child.exited, text]).toEqual([0, 'one\ntwo\nend\n'])
    // Longer than the agent is given at a time.
    const bytes = crypto.getRandomValues(new Uint8Array(65_536))
    const long = Buffer.concat([...Array.from({ length: 9 }, () => bytes), bytes.subarray(0, 1234)])
    const copied = begin(new Blob([long]), 'cat')
    expect(Buffer.compare(await copied.stdout.bytes(), long)).toBe(0)
    // Its end is not waited for by a command that ends before; nor is what is not read.
    const early = begin('pipe', 'read line; echo "$line"; exit 5')
    ;(early.stdin as Bun.FileSink).write('first\nsecond\n')
    await (early.stdin as Bun.FileSink).flush()
    expect([await early.stdout.text(), await early.exited]).toEqual(['first\n', 5])
    const left = begin('pipe', 'echo begun; cat; sleep 4322')
    await left.stdout.getReader().read()
    left.kill('SIGKILL')
    const count = async () => (await runBacklot(['vm', 'exec', 'one', 'ps | grep -c "[s]leep 4322"'], env)).stdout
    await until('the end of what nobody waits for', async () => (await count()) === '0\n')
    // input_not_awaited
    const refused = (await (await unheard).json()) as { code: string; message: string }
    expect(refused).toMatchObject({
      code: 'input_not_awaited',
      message: expect.stringContaining('waits for the input'),
    })
  })

  test('a command that is answered at its end reads what comes too, and its variables are on no command line', async () => {
    const exec = (body: object) =>
      fetch(`${host.url}/svc/vms/one/exec`, { method: 'POST', body: JSON.stringify(body) }).then(
        async (answer) => (await answer.json()) as Record<string, unknown>,
      )
    const inputId = crypto.randomUUID()
    const environment = { WORD: "a 'hidden'\nword\\n" }
    const command = 'printf %s "$WORD"; cat; cat /proc/[0-9]*/cmdline 2>/dev/null | grep -c "[h]idden"'
    const sent = fetch(`${host.url}/svc/vms/one/exec/${inputId}/input`, { method: 'POST', body: '+ what comes\n' })
    expect(await exec({ command, environment, inputId })).toMatchObject({
      ...{ stdout: `${environment.WORD}+ what comes\n0\n`, stderr: '', stdoutTruncated: false },
    })
    expect(await (await sent).json()).toEqual({ size: 13, isWhole: true })
    expect(await exec({ command: 'cat; echo "$WORD"', environment: { WORD: 'b' }, input: 'whole ' })).toMatchObject({
      stdout: 'whole b\n',
    })
    expect(await exec({ command, inputId, input: '' })).toMatchObject({ code: 'invalid_argument', argument: 'inputId' })
  })

  test('a guest knows who it is without a look into a seed that asks for nothing', async () => {
    const seed = await Bun.file(join(host.home, 'data/vms/one/seed/meta-data')).text()
    const [, instance] = /^instance-id: (.+)$/m.exec(seed) ?? []
    const words = ['hostname', 'cat /var/lib/backlot/instance', 'ls -d /run/seed']
    expect((await runBacklot(['vm', 'exec', 'one', words.join('; ')], env)).stdout).toBe(`one\n${instance}\n`)
  })

  test('a guest tells the addresses of its network', async () => {
    const { macAddress } = await data<Vm>('vm', 'get', 'one')
    const told = await data<NetworkInterface[]>('vm', 'interfaces', 'one')
    expect(told.find((each) => each.macAddress === macAddress)).toMatchObject({
      ...{ name: 'eth0', addresses: expect.arrayContaining([{ family: 'ipv4', address: '10.0.2.15', prefix: 24 }]) },
    })
    expect((await onTerminal(['vm', 'interfaces', 'one'], env)).text).toMatch(
      /^eth0 +52:54:00[\w:]+ +10\.0\.2\.15\/24/m,
    )
  })

  test('files and folders go into a guest and come back whole, and what is not there is told', async () => {
    const cp = (...args: string[]) => runBacklot(['vm', 'cp', ...args], env)
    const done = { stdout: '', stderr: '', status: 0 }
    const from = join(host.home, "out of it's way")
    await mkdir(join(from, 'in'), { recursive: true })
    // Longer than the agent is given at a time.
    const bytes = crypto.getRandomValues(new Uint8Array(65_536))
    const long = Buffer.concat([...Array.from({ length: 9 }, () => bytes), bytes.subarray(0, 1234)])
    const short = bytes.subarray(0, 1234)
    await writeFile(join(from, 'in/short'), short, { mode: 0o750 })
    await writeFile(join(from, 'empty'), '')
    expect(await cp(from, 'one:/var/way')).toEqual(done)
    const file = join(host.home, 'long')
    await writeFile(file, long, { mode: 0o750 })
    expect(await cp(file, 'one:/var/way')).toEqual(done)
    const seen = await runBacklot(
      [
        'vm',
        'exec',
        'one',
        'cd /var/way; stat -c "%n %s %a" empty in/short long; chmod u+s long; mkdir ../odd; mknod ../odd/zero c 1 5',
      ],
      env,
    )
    const sizes = `empty 0 644\nin/short ${short.length} 750\nlong ${long.length} 750\n`
    expect(seen.stdout).toBe(sizes)
    const back = join(host.home, 'back')
    expect(await cp('one:/var/way', back)).toEqual(done)
    expect((await stat(join(back, 'long'))).mode & 0o7777).toBe(0o750)
    expect(await cp('one:/var/way/in/short', join(back, 'again'))).toEqual(done)
    for (const [path, written] of [
      ['in/short', short],
      ['long', long],
      ['again', short],
    ] as const)
      expect(Buffer.compare(await Bun.file(join(back, path)).bytes(), written)).toBe(0)
    for (const [args, text] of [
      // guest_file_failed
      [['one:/var/nothing', back], 'The file "/var/nothing" in the guest cannot be read: there is none.'],
      [[join(from, 'empty'), 'one:/proc/nothing'], 'The file "/proc/nothing" in the guest cannot be written: '],
      [[join(from, 'empty'), 'one:/dev/null'], 'it is no plain file'],
      [[join(from, 'nothing'), 'one:/var'], 'There is no file'],
      [['one:/var/odd', join(back, 'odd')], 'CharacterDevice'],
      [['one:var', back], 'write `one:/PATH`'],
      [[from, back], 'one of the two is `NAME:/PATH`'],
    ] as const) {
      const call = await cp(...args)
      expect([args, call.status > 0, call.stderr]).toEqual([args, true, expect.stringContaining(text)])
    }
  })

  test('a shell in a guest is a terminal, whose key is gone afterwards', async () => {
    const decoder = new TextDecoder()
    let raw = ''
    const child = Bun.spawn(backlotCommand('vm', 'shell', 'one'), {
      env: { ...process.env, TERM: 'xterm', ...env },
      terminal: {
        ...{ cols: 123, rows: 45 },
        data: (_, part) => {
          raw += decoder.decode(part, { stream: true })
        },
      },
    })
    await until('a prompt', () => raw.includes('#'), 60_000)
    child.terminal?.write('stty size; tty; wc -l <~root/.ssh/authorized_keys; exit 7\r')
    expect(await child.exited).toBe(7)
    child.terminal?.close()
    expect(raw).toMatch(/45 123\r\n\/dev\/pts\/\d+\r\n1\r\n/)
    const keys = await runBacklot(['vm', 'exec', 'one', 'cat ~root/.ssh/authorized_keys'], env)
    expect(keys).toEqual({ stdout: '', stderr: '', status: 0 })
    const none = await runBacklot(['vm', 'shell', 'one', '--user', 'nobody-here'], env)
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('nobody is called "nobody-here"')])
  })

  test('a VM that runs is reached, stopped, read about, cloned, changed and removed', async () => {
    const running = await data<Vm>('vm', 'get', 'one')
    expect(running.status).toBe('running')
    const status = `http://${running.ipAddress}:8000/status`
    const answer = await until('the guest to answer', () => fetch(status).catch(() => false as const), 120_000)
    expect(await answer.json()).toMatchObject({ status: 'ok' })
    expect((await data<Vm[]>('vm', 'ls')).map(({ name, status }) => [name, status])).toEqual([['one', 'running']])
    const { url } = await data<{ url: string }>('vm', 'console', 'one')
    expect(url).toBe(`${host.url}/#home/one`)
    expect(await data('vm', 'stop', 'one', '--grace-seconds', '60')).toMatchObject({
      method: expect.stringMatching(/^(agent|acpi)$/),
    })
    const log = await data<{ log: string[]; lastEnding: object }>('vm', 'logs', 'one')
    expect(log.log.map((line) => JSON.parse(line).event)).toEqual(['create', 'run', 'ended', 'stop'])
    expect(log.lastEnding).toMatchObject({ expected: true })
    expect(await data<Vm>('vm', 'clone', 'one', 'two')).toMatchObject({ name: 'two', image: 'linux-minimal:latest' })
    expect((await data<Vm>('vm', 'set', 'two', '--disk-size', '9GB', '--cpu', '1')).diskSize.total).toBe(9 * 2 ** 30)
    await data('vm', 'rm', 'one')
    expect((await data<Vm[]>('vm', 'ls')).map(({ name }) => name)).toEqual(['two'])
    await data('vm', 'rm', 'two')
  })

  test('options say what a VM is like, and how it is run', async () => {
    const script = join(host.home, 'script')
    await writeFile(script, '#!/bin/sh\necho obeyed\n')
    const shared = join(host.home, 'given')
    await mkdir(shared)
    const made = await data<Vm>(
      ...(['vm', 'create', 'three', '--cpu', '1', '--memory', '256MB', '--disk-size', '1GB'] as const),
      ...(['--display', '800x600', '--user-data', `@${script}`, '--network', 'none'] as const),
    )
    expect(made).toMatchObject({ cpuCount: 1, memorySize: 2 ** 28, display: '800x600', networkMode: 'none' })
    const detached = await data('vm', 'run', 'three', '--share', shared, '--no-display', '--detach')
    expect(detached).toMatchObject({ status: 'pending', operationId: expect.any(String) })
    await until('its hypervisor', async () => (await data<Vm>('vm', 'get', 'three')).status === 'running')
    expect(await data<Vm>('vm', 'get', 'three')).toMatchObject({
      vncUrl: null,
      sharedDirectories: [{ hostPath: shared, readOnly: false }],
    })
    expect(await Bun.file(join(host.home, 'data/vms/three/seed/user-data')).text()).toBe('#!/bin/sh\necho obeyed\n')
    expect(await data('vm', 'stop', 'three', '--grace-seconds', '0')).toMatchObject({ method: 'forced' })
    await data('vm', 'rm', 'three')
    expect(await data<Vm>('vm', 'create', 'empty', '--image', 'none')).toMatchObject({ image: null })
    await data('vm', 'rm', 'empty')
  })

  test('a VM in a folder is named with it, by a path from here too', async () => {
    const folder = join(host.home, 'aside')
    const from = relative(process.cwd(), folder)
    await data('vm', 'create', 'five', '--image', 'none', '--memory', '64MB', '--storage', from)
    expect((await data<Vm[]>('vm', 'ls', '--storage', folder)).map(({ name }) => name)).toEqual(['five'])
    const at = ['--storage', from] as const
    expect(await data<Vm>('vm', 'run', 'five', '--no-display', ...at)).toMatchObject({ locationName: folder })
    const { url } = await data<{ url: string }>('vm', 'console', 'five', ...at)
    expect(url).toBe(`${host.url}/#${folder}/five`)
    const exec = await runBacklot(['vm', 'exec', 'five', 'true', '--timeout-seconds', '1', ...at], env)
    expect(exec.stderr).toContain('No guest agent answers')
    await data('vm', 'stop', 'five', ...at)
    const { log } = await data<{ log: string[] }>('vm', 'logs', 'five', ...at)
    expect(log.map((line) => JSON.parse(line).event)).toContain('stop')
    const lost = await runBacklot(['vm', 'set', 'five', '--cpu', '1', '--storage', 'home'], env)
    expect(lost.stderr).toContain('Virtual machine not found: five: It is in no location; `sourceLocation` names')
    const moved = await data<Vm>('vm', 'set', 'five', '--storage', 'home', '--source-location', from)
    expect(moved.locationName).toBe('home')
    await data('vm', 'rm', 'five')
  })

  test('a terminal gets tables and sentences, and sees what is being done', async () => {
    expect((await onTerminal(['vm', 'ls'], env)).text).toBe('There are no VMs. `backlot vm create NAME` makes one.\n')
    const made = await onTerminal(['vm', 'create', 'four'], env)
    expect(made.text).toContain('four is made: 2 cores, 2GB of memory, a disk of 8GB. `backlot vm run four` starts it.')
    const table = (await onTerminal(['vm', 'ls'], env)).text.split('\n')
    expect(table[0]).toMatch(/^NAME +STATUS +CPU +MEMORY +DISK +LOCATION$/)
    expect(table[1]).toMatch(/^four +stopped +2 +2GB +8GB +home$/)
    const run = await onTerminal(['vm', 'run', 'four'], env)
    expect(run.raw).toContain('four: starting the hypervisor …')
    expect(run.text).toMatch(/^four runs\. Ports of the guest: 22 at 127\.77\./)
    expect((await onTerminal(['vm', 'get', 'four'], env)).text).toMatch(/^status +running$/m)
    expect((await onTerminal(['vm', 'stop', 'four'], env)).text).toContain('Virtual machine stopped: four')
    expect((await onTerminal(['vm', 'get', 'four', '--json'], env)).text).toStartWith('{')
    await data('vm', 'rm', 'four')
  })

  test('what is wrong is said before anything is asked of the service, or as the service says it', async () => {
    for (const [args, status, text] of [
      [['vm', 'creat', 'x'], 64, 'does not know "creat x"'],
      [['vm', 'create'], 64, 'backlot vm create NAME'],
      [['vm', 'create', 'x', '--memory', 'lots'], 1, '"memory" cannot be "lots"'],
      [['vm', 'create', 'x', '--user-data', '@/nothing'], 1, '"/nothing" cannot be read'],
      [['vm', 'create', 'x', '--nothing'], 64, '--nothing'],
      [['vm', 'run', 'nobody'], 1, 'Virtual machine not found: nobody'],
      [['vm', 'logs'], 64, 'backlot vm logs NAME'],
      [['vm', 'ls', '--url', 'http://127.0.0.1:1'], 1, 'Start one with `backlot serve`'],
      [['vm', 'ls', '--url', 'unix:/nowhere'], 1, 'No VM host answers at "unix:/nowhere"'],
      [['vm', 'ls', '--url', '127.0.0.1:7777'], 64, 'give http://HOST:PORT or unix:PATH'],
      [['vm', 'create', 'x', '--os', 'windows'], 1, 'it is macOS or linux'],
    ] as const) {
      const call = await runBacklot(args, env)
      expect([args, call.status, call.stdout]).toEqual([args, status, ''])
      expect(call.stderr).toContain(text)
    }
  })

  test('an interrupted creation leaves nothing', async () => {
    const slow = Bun.serve({
      port: 0,
      // A disk that never comes: headers, and silence.
      fetch: () =>
        new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(512)) }), {
          headers: { 'content-length': '1048576' },
        }),
    })
    try {
      const image = `http://127.0.0.1:${slow.port}/disk.raw`
      const child = Bun.spawn(backlotCommand('vm', 'create', 'never', '--image', image), {
        env: { ...process.env, ...env },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      await until('the download to begin', async () =>
        (await data<Vm[]>('vm', 'ls')).some(({ name }) => name === 'never'),
      )
      child.kill('SIGINT')
      expect([await child.exited, await child.stderr.text()]).toEqual([1, expect.stringContaining('interrupted')])
      await until('it to be gone', async () => (await data<Vm[]>('vm', 'ls')).length === 0)
    } finally {
      await slow.stop(true)
    }
  })

  test('help has every operation of its group', async () => {
    for (const group of ['vm', 'host'] as const) {
      const { stdout } = await runBacklot([group, '--help'])
      for (const { command, summary } of Object.values(vmHost)) {
        if (command.group !== group) continue
        expect(stdout).toContain(`backlot ${group} ${command.words[0]}`)
        // These two do more than the operation of that name, and say so.
        if (!['logs', 'exec'].includes(String(command.words[0]))) expect(stdout).toContain(summary)
      }
    }
    expect((await runBacklot(['vm', '--help'])).stdout).toContain('[--network nat|none]')
  })
})

describe('host logs -f', () => {
  test('shows what is there and what comes, until it is interrupted', async () => {
    await data('vm', 'create', 'seen', '--image', 'none')
    const child = Bun.spawn(backlotCommand('host', 'logs', '-f'), { env: { ...process.env, ...env }, stdout: 'pipe' })
    let text = ''
    const reading = (async () => {
      for await (const part of child.stdout) text += new TextDecoder().decode(part)
    })()
    await until('the creation to be shown', () => text.includes('"vm":"seen"'))
    await data('vm', 'rm', 'seen')
    await until('the deletion to be shown', () => /"event":"deleted","vm":"seen"/.test(text))
    child.kill('SIGINT')
    await reading
    expect(await child.exited).toBe(0)
    const lines = text.trim().split('\n')
    expect(new Set(lines).size).toBe(lines.length)
  })

  test('shows only what comes where no lines are asked for', async () => {
    const args = ['host', 'logs', '-f', '--lines', '0']
    const child = Bun.spawn(backlotCommand(...args), { env: { ...process.env, ...env }, stdout: 'pipe' })
    let text = ''
    const reading = (async () => {
      for await (const part of child.stdout) text += new TextDecoder().decode(part)
    })()
    await until('a line that came', async () => {
      await data('vm', 'create', 'later', '--image', 'none')
      await data('vm', 'rm', 'later')
      return text.includes('"vm":"later"')
    })
    child.kill('SIGINT')
    await reading
    expect(text).not.toContain('"vm":"seen"')
  })
})
