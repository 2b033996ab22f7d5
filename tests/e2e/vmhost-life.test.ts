import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Vm, vmStatuses } from '@backlot/contract/vmhost/vm'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { booted, call, checkDisk, create, ended, get, giveImage, image, isAlive, names, run } from '../support/vms.ts'

let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
  await giveImage(host)
})

afterAll(() => host[Symbol.asyncDispose]())

const folder = (name: string) => join(host.home, 'data/vms', name)

describe('a VM that boots', () => {
  const script = [
    '#!/bin/sh',
    'hostname >/mnt/shared/out/name',
    'cat /mnt/shared/in/greeting >/mnt/shared/out/greeting',
    'touch /mnt/shared/in/written 2>/dev/null || echo refused >/mnt/shared/out/written',
    'cat /sys/class/net/eth0/address >/mnt/shared/out/mac',
    'nproc >/mnt/shared/out/cores',
    'sync; mv /mnt/shared/out/cores /mnt/shared/out/done',
  ].join('\n')

  test(
    'is made of an image, with every field of its record',
    proving(
      ['vmhost.vms.create', 'vmhost.vms.get', 'vmhost.vms.list', 'vmhost.settings.name', 'vmhost.settings.os'],
      async () => {
        const made = await create(host, 'one', { image, userData: script, cpu: 2 })
        expect(made).toEqual({
          message: expect.any(String),
          name: 'one',
          status: 'stopped',
          operationId: expect.any(String),
        })
        const vm = await get(host, 'one')
        expect(vm).toEqual({
          name: 'one',
          os: 'linux',
          guestOs: 'linux',
          cpuCount: 2,
          memorySize: 256 * 2 ** 20,
          diskSize: { allocated: expect.any(Number), total: 2 ** 30 },
          display: '800x600',
          status: 'stopped',
          vncUrl: null,
          ipAddress: null,
          sshAvailable: null,
          locationName: 'home',
          sharedDirectories: null,
          networkMode: 'nat',
          provisioningOperation: null,
          downloadProgress: null,
          downloadedBytes: null,
          totalBytes: null,
          bytesPerSecond: null,
          macAddress: expect.stringMatching(/^52:54:00(:[0-9a-f]{2}){3}$/),
          uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
          image,
          iso: null,
          forwards: [],
          accelerator: null,
          pid: null,
          operationId: made.operationId as string,
          lastError: null,
          lastEnding: null,
          identity: 'own',
          createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        })
        // An overlay: next to nothing of it is its own.
        expect(vm.diskSize.allocated).toBeLessThan(512 * 1024)
        expect(await call(host, 'GET', '/svc/vms')).toEqual([200, [vm] as never])
        expect(await call(host, 'GET', '/lume/vms/?storage=home')).toEqual([200, [vm] as never])
        expect((await call(host, 'GET', '/svc/vms/one?storage=home'))[1]).toEqual(vm as never)
      },
    ),
  )

  test(
    'starts after the answer, is never shown as stopped meanwhile, and is reached on an address of its own',
    proving(['vmhost.vms.run', 'vmhost.timing.run-asynchronous', 'vmhost.run-options.shared-directories'], async () => {
      const [input, output] = [join(host.home, 'in'), join(host.home, 'out')]
      await Promise.all([mkdir(input), mkdir(output)])
      await writeFile(join(input, 'greeting'), 'hello from the host\n')
      // Two processors take twice the time to boot where they are emulated; `vm-command` boots a guest of two.
      expect((await call(host, 'PATCH', '/svc/vms/one', { cpu: 1 }))[0]).toBe(200)
      const [status, answer] = await call(host, 'POST', '/svc/vms/one/run', {
        cpu: 64,
        shared_directories: [{ host_path: input, read_only: true }, { hostPath: output }],
      })
      expect([status, answer]).toEqual([
        202,
        { message: expect.any(String), name: 'one', status: 'pending', operationId: expect.any(String) },
      ])
      const seen = new Set<string>()
      const vm = await until('the VM to run', async () => {
        const now = await get(host, 'one')
        seen.add(now.status)
        if (now.status !== 'running') expect(now.ipAddress).toBeNull()
        return now.status === 'running' && now
      })
      expect([...seen].filter((each) => each !== 'starting')).toEqual(['running'])
      // Bun's matchers leave themselves in what they are given.
      expect(structuredClone(vm)).toMatchObject({
        ipAddress: expect.stringMatching(/^127\.77\.\d+\.\d+$/),
        vncUrl: expect.stringMatching(/^vnc:\/\/:[A-Za-z0-9-]{8}@127\.0\.0\.1:\d+$/),
        sharedDirectories: [
          { hostPath: input, tag: 'in', readOnly: true },
          { hostPath: output, tag: 'out', readOnly: false },
        ],
        accelerator: expect.stringMatching(/^(tcg|kvm)$/),
        pid: expect.any(Number),
        cpuCount: 1,
        operationId: answer.operationId,
      })
      expect(vm.forwards).toContainEqual({ guestPort: 8000, address: vm.ipAddress as string, port: 8000 })
      expect(await booted(vm)).toMatchObject({ status: 'ok' })
      await until('the script of the guest to end', () => existsSync(join(output, 'done')))
      const written = (file: string) => readFile(join(output, file), 'utf8')
      expect(await Promise.all(['name', 'greeting', 'written', 'mac', 'done'].map(written))).toEqual([
        'one\n',
        'hello from the host\n',
        'refused\n',
        `${vm.macAddress}\n`,
        '1\n',
      ])
      expect(existsSync(join(input, 'written'))).toBe(false)
      await until('SSH to be found', async () => (await get(host, 'one')).sshAvailable)
    }),
  )

  test('shows its screen to who has the password, which stands in no argument list and in no log', async () => {
    const { vncUrl, pid } = await get(host, 'one')
    const [, password = '', port] = /^vnc:\/\/:(.*)@127\.0\.0\.1:(\d+)$/.exec(vncUrl ?? '') ?? []
    const greeting = Promise.withResolvers<string>()
    await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(port),
      socket: {
        data(socket, data) {
          greeting.resolve(data.toString())
          socket.end()
        },
        error: (_, error) => greeting.reject(error),
      },
    })
    expect(await greeting.promise).toStartWith('RFB 003.008')
    const words = await readFile(`/proc/${pid}/cmdline`, 'latin1')
    expect(words).toContain('-sandbox')
    const [, logs] = await call(host, 'GET', '/svc/logs')
    for (const text of [words, JSON.stringify(logs), host.log()]) expect(text).not.toContain(password)
  })

  test('refuses what needs it stopped, and says so', async () => {
    const refused = expect.objectContaining({ code: 'vm_running', message: expect.stringContaining('Stop it first') })
    expect(await call(host, 'POST', '/svc/vms/one/run')).toEqual([400, refused])
    expect(await call(host, 'DELETE', '/svc/vms/one')).toEqual([400, refused])
    expect(await call(host, 'POST', '/svc/vms/clone', { name: 'one', newName: 'two' })).toEqual([400, refused])
    expect(await call(host, 'PATCH', '/svc/vms/one', { cpu: 1 })).toEqual([400, refused])
    expect(await call(host, 'PATCH', '/svc/vms/one', { memory: '1GB' })).toEqual([400, refused])
    expect((await get(host, 'one')).status).toBe('running')
  })

  test('grows its disk and gives memory back while it runs', async () => {
    expect((await call(host, 'PATCH', '/svc/vms/one', { diskSize: '2GB' }))[0]).toBe(200)
    expect((await get(host, 'one')).diskSize.total).toBe(2 * 2 ** 30)
    expect((await call(host, 'PATCH', '/svc/vms/one', { diskSize: '1GB' }))[1].code).toBe('disk_not_shrunk')
    await until('the guest to have a driver for its balloon', async () => {
      const [status] = await call(host, 'PATCH', '/svc/vms/one', { memory: '192MB' })
      return status === 200
    })
    expect((await get(host, 'one')).memorySize).toBe(192 * 2 ** 20)
    // No kernel lives on that; what was taken from the guest on the way is given back to it.
    expect((await call(host, 'PATCH', '/svc/vms/one', { memory: '16MB' }))[1].code).toBe('vm_running')
    expect((await get(host, 'one')).memorySize).toBe(192 * 2 ** 20)
    await until('the guest to have its memory again', async () => {
      const [, { stdout }] = await call(host, 'POST', '/svc/vms/one/exec', { command: 'cat /proc/meminfo' })
      return (
        Number(/MemTotal:\s*(\d+)/.exec(String(stdout))?.[1]) > 100_000 &&
        Number(/MemFree:\s*(\d+)/.exec(String(stdout))?.[1]) > 50_000
      )
    })
  })

  test(
    'shuts down when asked, and the answer waits for it',
    proving(['vmhost.vms.stop', 'vmhost.timing.stop-done'], async () => {
      const { pid } = await get(host, 'one')
      expect(await call(host, 'POST', '/svc/vms/one/stop', 'not json')).toEqual([
        200,
        { message: expect.any(String), method: expect.stringMatching(/^(agent|acpi)$/) },
      ])
      expect(isAlive(pid)).toBe(false)
      expect(await get(host, 'one')).toMatchObject({
        status: 'stopped',
        ipAddress: null,
        vncUrl: null,
        pid: null,
        sharedDirectories: null,
        lastEnding: { expected: true },
      })
      expect(checkDisk(folder('one'))).toBe(0)
      expect(readdirSync(join(host.home, 'state/vm'))).toEqual([])
    }),
  )

  test(
    'is cloned without copying its data, as a machine of its own',
    proving(['vmhost.vms.clone'], async () => {
      expect(await call(host, 'POST', '/svc/vms/clone', { name: 'one', new_name: 'two' })).toEqual([
        200,
        { message: expect.any(String), source: 'one', destination: 'two', operationId: expect.any(String) },
      ])
      const [one, two] = [await get(host, 'one'), await get(host, 'two')]
      expect(two).toMatchObject({ cpuCount: one.cpuCount, memorySize: one.memorySize, display: one.display, image })
      for (const key of ['macAddress', 'uuid'] as const) expect(two[key]).not.toBe(one[key])
      expect([one.diskSize.allocated, two.diskSize.allocated].every((bytes) => bytes < 512 * 1024)).toBe(true)
      expect(two.diskSize.total).toBe(one.diskSize.total)
      expect([checkDisk(folder('one')), checkDisk(folder('two'))]).toEqual([0, 0])

      const output = join(host.home, 'out-two')
      await mkdir(output)
      const input = join(host.home, 'in')
      const running = await run(host, 'two', {
        noDisplay: true,
        sharedDirectories: [{ hostPath: input }, { hostPath: output, tag: 'out' }],
      })
      expect(running.vncUrl).toBeNull()
      expect(await booted(running)).toMatchObject({ status: 'ok' })
      await until('the script of the copy to end', () => existsSync(join(output, 'done')))
      expect(await readFile(join(output, 'name'), 'utf8')).toBe('two\n')
      expect(await readFile(join(output, 'mac'), 'utf8')).toBe(`${two.macAddress}\n`)
      expect((await call(host, 'POST', '/svc/vms/two/stop', { graceSeconds: 0 }))[0]).toBe(200)
    }),
  )

  test(
    'is changed while it is stopped',
    proving(
      [
        'vmhost.vms.update',
        'vmhost.settings.cpu',
        'vmhost.settings.memory',
        'vmhost.settings.disk-size',
        'vmhost.settings.display',
      ],
      async () => {
        const change = { cpu: 3, memory: '0.5GB', disk_size: '3GB', display: '1280x800' }
        expect((await call(host, 'PATCH', '/svc/vms/two', change))[0]).toBe(200)
        expect(await get(host, 'two')).toMatchObject({
          cpuCount: 3,
          memorySize: 2 ** 29,
          diskSize: { total: 3 * 2 ** 30 },
          display: '1280x800',
        })
        expect((await call(host, 'POST', '/svc/vms/two/update', { cpu: 1 }))[0]).toBe(200)
        expect(await get(host, 'two')).toMatchObject({ cpuCount: 1, memorySize: 2 ** 29 })
        expect(await call(host, 'PATCH', '/svc/vms/two', {})).toEqual([200, { message: 'Nothing to change' }])
        expect(checkDisk(folder('two'))).toBe(0)
      },
    ),
  )

  test(
    'is deleted with its files and those that only it used, and nothing else',
    proving(['vmhost.vms.delete'], async () => {
      await writeFile(join(folder('one'), 'notes.txt'), 'mine')
      const kept = folder('one.left')
      expect(await call(host, 'DELETE', '/svc/vms/one')).toEqual([
        200,
        { message: `Virtual machine deleted: one; files in its folder that are not of a VM are in "${kept}" now` },
      ])
      expect(await names(host)).toEqual(['two'])
      expect(readdirSync(kept)).toEqual(['notes.txt'])
      await create(host, 'one')
      expect((await call(host, 'DELETE', '/svc/vms/one'))[0]).toBe(200)
      expect(checkDisk(folder('two'))).toBe(0)
      expect((await call(host, 'DELETE', '/svc/vms/two'))[0]).toBe(200)
      expect(readdirSync(join(host.home, 'data/vms'))).toEqual(['one.left'])
    }),
  )
})

describe('a VM that is not there', () => {
  test(
    'is refused by every operation in the words that clients know',
    proving(
      [
        'vmhost.vms.get.refused',
        'vmhost.vms.delete.refused',
        'vmhost.vms.clone.refused',
        'vmhost.vms.run.refused',
        'vmhost.vms.stop.refused',
      ],
      async () => {
        const refused = [400, { code: 'vm_not_found', message: 'Virtual machine not found: none', name: 'none' }]
        for (const [method, path, body] of [
          ['GET', '/svc/vms/none'],
          ['GET', '/svc/vms/none?storage=home'],
          ['DELETE', '/lume/vms/none'],
          ['POST', '/svc/vms/clone', { name: 'none', newName: 'other' }],
          ['POST', '/svc/vms/none/run', {}],
          ['POST', '/svc/vms/none/stop', ''],
          ['PATCH', '/svc/vms/none', { cpu: 1 }],
        ] as const) {
          expect([method, path, await call(host, method, path, body)] as unknown).toEqual([method, path, refused])
        }
      },
    ),
  )

  test(
    'gives 400 to names and storages that cannot be',
    proving(['vmhost.vms.list.refused', 'vmhost.vms.update.refused'], async () => {
      for (const [method, path] of [
        ['GET', '/svc/vms?storage=nothing'],
        ['GET', '/svc/vms?storage=../etc'],
        ['GET', '/svc/vms?storage=/srv/../etc'],
        ['GET', '/svc/vms/..%2Fhome'],
        ['GET', '/svc/vms/.bases'],
        ['DELETE', `/svc/vms/${'x'.repeat(300)}`],
        ['PATCH', '/svc/vms/a%00b'],
      ] as const) {
        const [status, { code }] = await call(host, method, path, method === 'PATCH' ? { cpu: 1 } : undefined)
        expect([path, status, code]).toEqual([path, 400, expect.stringMatching(/^(location_not_found|invalid_\w+)$/)])
      }
    }),
  )
})

describe('operations and events', () => {
  test('tell what is done, and outlive it for a while', async () => {
    const { operationId } = await create(host, 'told')
    const operation = await ended(host, String(operationId))
    expect(operation).toEqual({
      id: String(operationId),
      kind: 'create',
      name: 'told',
      location: 'home',
      state: 'done',
      step: null,
      startedAt: expect.any(String),
      endedAt: expect.any(String),
      progress: null,
      cause: null,
      messages: [],
    })
    expect((await call(host, 'GET', '/svc/operations'))[1]).toContainEqual(operation as never)
    expect(await call(host, 'DELETE', `/svc/operations/${operationId}`)).toEqual([
      409,
      expect.objectContaining({ code: 'operation_over' }),
    ])
    for (const method of ['GET', 'DELETE']) {
      expect(await call(host, method, '/svc/operations/nothing')).toEqual([
        404,
        expect.objectContaining({ code: 'operation_not_found' }),
      ])
    }
  })

  test('are sent as they happen, and again to who comes back', async () => {
    const follow = async (last?: string) => {
      const answer = await fetch(
        `${host.url}/svc/events`,
        last === undefined ? {} : { headers: { 'Last-Event-ID': last } },
      )
      expect(answer.headers.get('content-type')).toStartWith('text/event-stream')
      const reader = (answer.body as ReadableStream<Uint8Array>)
        .pipeThrough(new TextDecoderStream() as never)
        .getReader()
      let text = ''
      return {
        until: async (part: string) => {
          while (!text.includes(part)) {
            const { done, value } = await reader.read()
            if (done) throw new Error(`the events ended before ${part}`)
            text += value
          }
          return text
        },
        end: () => reader.cancel(),
      }
    }
    const first = await follow()
    await first.until('welcome')
    await create(host, 'heard')
    const text = await first.until('"type":"vm","name":"heard","location":"home","status":"stopped"')
    expect(text).toContain('"type":"vm","name":"heard","location":"home","status":"provisioning"')
    const [id = ''] = /^id: .*-\d+$/m.exec(text) ?? []
    await first.end()
    const second = await follow(id.slice('id: '.length))
    expect(await second.until('"status":"stopped"')).not.toContain(`${id}\n`)
    await second.end()
    const lost = await follow('another-run-7')
    await lost.until('event: reset')
    await lost.end()
  })

  test('stop of a VM that does not run is refused; so is a name that is taken, and a setup assistant', async () => {
    expect((await call(host, 'POST', '/svc/vms/told/stop'))[1].code).toBe('vm_not_running')
    expect((await call(host, 'POST', '/svc/vms/clone', { name: 'told', newName: 'heard' }))[1].code).toBe('vm_exists')
    expect((await call(host, 'POST', '/svc/vms/told/run', { recoveryMode: true }))[1]).toMatchObject({
      code: 'macos_only',
      message: expect.stringContaining('"recoveryMode"'),
    })
    expect((await get(host, 'told')).status).toBe('stopped')
    expect(await call(host, 'POST', '/svc/vms/told/setup')).toEqual([
      400,
      expect.objectContaining({ code: 'macos_only', message: expect.stringContaining('macOS') }),
    ])
  })

  test('the host says how it is', async () => {
    expect(await call(host, 'GET', '/lume/host/status')).toEqual([
      200,
      {
        status: 'healthy',
        vm_count: 0,
        max_vms: expect.any(Number),
        available_slots: expect.any(Number),
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        backlot: expect.any(String),
        hypervisor: {
          name: 'qemu',
          features: expect.objectContaining({ suspend: true, forks: true, guestAgent: true }),
        },
      },
    ])
  })
})

describe('the log', () => {
  test(
    'is given by kind, from its end',
    proving(
      ['vmhost.logs.get', 'vmhost.log-query.type', 'vmhost.log-query.lines', 'vmhost.limits.log-type'],
      async () => {
        const logs = async (query: string) =>
          (await call(host, 'GET', `/svc/logs${query}`))[1] as Record<string, string[]>
        const all = await logs('')
        expect(Object.keys(all)).toEqual(['info', 'error'])
        expect(all.info?.map((line) => JSON.parse(line))).toContainEqual(
          expect.objectContaining({ level: 'info', event: 'create', vm: 'heard', state: 'done' }),
        )
        expect(await logs('?type=all')).toEqual(all)
        expect(await logs('?type=info')).toEqual({ info: all.info as string[] })
        expect(await logs('?type=error')).toEqual({ error: all.error as string[] })
        expect(await logs('?type=info&lines=2')).toEqual({ info: (all.info as string[]).slice(-2) })
        expect(await logs('?lines=0')).toEqual({ info: [], error: [] })
      },
    ),
  )

  test(
    'is refused where it cannot be read, and to questions that make no sense',
    proving(['vmhost.logs.get.refused'], async () => {
      for (const query of ['?type=some', '?lines=-1', '?lines=many', '?lines=1.5']) {
        expect([query, (await call(host, 'GET', `/svc/logs${query}`))[0]]).toEqual([query, 400])
      }
    }),
  )
})

test('every status has a text that clients take for no failure', () => {
  const statuses: readonly Vm['status'][] = vmStatuses
  expect(statuses.filter((status) => /error|fail/.test(status))).toEqual([])
})
