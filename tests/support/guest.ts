/** A guest started by hand: QEMU with plain arguments, no part of Backlot but the image. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LocalImage } from '@backlot/contract/vmhost/image'
import { until } from './until.ts'

/** What a guest is started with. */
export interface GuestOptions {
  readonly image: { folder: string; image: LocalImage }
  /** Its disk: an overlay of the image's, made where it is absent. */
  readonly disk: string
  readonly uuid: string
  /** A qcow2 disk of its own beside the first, `/dev/vdb` to the guest. */
  readonly data?: string
  /** A disk labelled CIDATA. */
  readonly seed?: string
  /** Folders of the host by tag. */
  readonly shares?: Readonly<Record<string, string>>
  /** Mebibytes of memory, processors and bytes of the disk: 256, 1 and 1 GiB where nothing is said. */
  readonly memoryMb?: number
  readonly cpus?: number
  readonly diskBytes?: number
  /** Started in a session of its own, to which the kernel gives a share of the processors of its own (sched(7), autogroup). */
  readonly ownSession?: boolean
}

/** A running guest; disposing of it ends its process. */
export interface Guest extends AsyncDisposable {
  readonly pid: number
  /** `http://127.0.0.1:PORT` of the guest's port 8000, and that of its ssh. */
  readonly url: string
  readonly sshPort: number
  /** Text of the serial console so far. */
  serial(): Promise<string>
  /** Waits for the first answer of `/status`. */
  answered(): Promise<Response>
  /** Runs a shell command through the guest agent; gives what it printed. */
  shell(command: string): Promise<string>
  /** Has the guest agent carry out one of its own commands; gives what that returns. */
  agent(command: string, parameters?: object): Promise<Record<string, unknown>>
  /** Has QEMU carry out a line of its monitor for people; throws with what it answers, which is nothing where it went well. */
  monitor(line: string): Promise<void>
  /** Presses the power button, and waits until the machine is off. */
  powerOff(): Promise<void>
}

/** A port of loopback that nobody listens on. */
export const freePort = (): number => {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = server
  server.stop(true)
  return port
}

/** Runs a program to its end; throws with what it wrote where it fails. */
export const runProgram = async (...command: [string, ...string[]]): Promise<string> => {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [output, complaint] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (child.exitCode !== 0) throw new Error(`${command.join(' ')}: ${output}${complaint}`)
  return output
}

/** The words of QEMU's command line. */
export const guestArguments = (
  { image: { folder, image }, disk, uuid, data, seed, shares = {}, memoryMb = 256, cpus = 1 }: GuestOptions,
  at: { ports: Readonly<Record<number, number>>; folder: string },
): string[] => {
  const forwards = Object.entries(at.ports).map(([guest, port]) => `,hostfwd=tcp:127.0.0.1:${port}-:${guest}`)
  return [
    ...['-accel', 'tcg', '-cpu', 'max', '-machine', 'q35', '-uuid', uuid],
    ...['-m', String(memoryMb), '-smp', String(cpus)],
    ...['-nodefaults', '-display', 'none', '-no-reboot', '-device', 'VGA'],
    ...['-kernel', join(folder, image.kernel ?? ''), '-initrd', join(folder, image.initrd ?? '')],
    ...['-append', image.append ?? ''],
    ...['-drive', `if=none,id=disk,file=${disk},format=qcow2`, '-device', 'virtio-blk-pci,drive=disk'],
    ...(data === undefined
      ? []
      : ['-drive', `if=none,id=data,file=${data},format=qcow2`, '-device', 'virtio-blk-pci,drive=data']),
    ...['-netdev', `user,id=net${forwards.join('')}`, '-device', 'virtio-net-pci,netdev=net,romfile='],
    ...['-device', 'virtio-serial-pci', '-chardev', `socket,path=${at.folder}/agent,server=on,wait=off,id=agent`],
    ...['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
    ...['-qmp', `unix:${at.folder}/qmp,server=on,wait=off`, '-serial', `file:${at.folder}/serial`],
    ...(seed === undefined
      ? []
      : ['-drive', `if=none,id=seed,file=${seed},format=raw,readonly=on`, '-device', 'virtio-blk-pci,drive=seed']),
    ...Object.entries(shares).flatMap(([tag, path]) => [
      '-virtfs',
      `local,path=${path},mount_tag=${tag},security_model=none`,
    ]),
  ]
}

/** Starts a guest. */
export const startGuest = async (options: GuestOptions): Promise<Guest> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-guest-'))
  const { image, disk } = options
  if (!(await Bun.file(disk).exists())) {
    const base = join(image.folder, image.image.disk)
    await mkdir(join(disk, '..'), { recursive: true })
    const on = ['-b', base, '-F', image.image.diskFormat]
    await runProgram('qemu-img', 'create', '-q', '-f', 'qcow2', ...on, disk, String(options.diskBytes ?? 2 ** 30))
  }
  const ports = { 8000: freePort(), 22: freePort() }
  const child = Bun.spawn(['qemu-system-x86_64', ...guestArguments(options, { ports, folder })], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    detached: options.ownSession ?? false,
  })
  const url = `http://127.0.0.1:${ports[8000]}`
  const serial = () => Bun.file(join(folder, 'serial')).text()
  const alive = () => {
    if (child.exitCode !== null) throw new Error(`QEMU ended with ${child.exitCode}`)
  }
  const ask = (socket: string, lines: readonly object[], withinMs = 10_000): Promise<Record<string, unknown>[]> =>
    answersTo(join(folder, socket), lines, withinMs)
  const agent = async (execute: string, parameters: object = {}): Promise<Record<string, unknown>> => {
    const [answer] = await ask('agent', [{ execute, arguments: parameters }])
    if (answer?.return === undefined) throw new Error(`${execute}: ${JSON.stringify(answer)}`)
    return answer.return as Record<string, unknown>
  }
  return {
    pid: child.pid,
    url,
    sshPort: ports[22],
    serial,
    agent,
    async monitor(line) {
      const command = { execute: 'human-monitor-command', arguments: { 'command-line': line } }
      const [, answer] = await ask('qmp', [{ execute: 'qmp_capabilities' }, command], 120_000)
      if (answer?.return !== '') throw new Error(`${line}: ${JSON.stringify(answer)}`)
    },
    answered: () =>
      until(
        'the guest to answer',
        async () => {
          alive()
          return fetch(`${url}/status`, { signal: AbortSignal.timeout(2_000) }).catch(() => false as const)
        },
        90_000,
      ),
    async shell(command) {
      const { pid } = await agent('guest-exec', { path: '/bin/sh', arg: ['-c', command], 'capture-output': true })
      const ended = await until('the command to end', async () => {
        const status = await agent('guest-exec-status', { pid })
        return status.exited ? status : false
      })
      const text = (part: unknown) => Buffer.from(String(part ?? ''), 'base64').toString()
      return text(ended['out-data']) + text(ended['err-data'])
    },
    async powerOff() {
      await ask('qmp', [{ execute: 'qmp_capabilities' }, { execute: 'system_powerdown' }])
      const late = setTimeout(() => child.kill('SIGKILL'), 60_000)
      await child.exited
      clearTimeout(late)
      if (child.signalCode !== null) throw new Error(`the guest did not power off: ${await serial()}`)
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Sends commands to a Unix socket, and gives what answers them: what is told besides is none. */
const answersTo = async (
  path: string,
  lines: readonly object[],
  withinMs: number,
): Promise<Record<string, unknown>[]> => {
  const found: Record<string, unknown>[] = []
  let rest = ''
  let end: () => void = () => {}
  const enough = new Promise<void>((settle) => {
    end = settle
  })
  const socket = await Bun.connect({
    unix: path,
    socket: {
      data(_, bytes) {
        const pieces = (rest + bytes.toString()).split('\n')
        rest = pieces.pop() ?? ''
        const told = pieces.filter((piece) => piece.trim() !== '').map((piece) => JSON.parse(piece))
        found.push(...told.filter((each) => 'return' in each || 'error' in each))
        if (found.length >= lines.length) end()
      },
      close: () => end(),
    },
  })
  socket.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const late = setTimeout(() => end(), withinMs)
  await enough
  clearTimeout(late)
  socket.end()
  return found
}
