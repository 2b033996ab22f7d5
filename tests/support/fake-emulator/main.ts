/**
 * A stand-in for the Android emulator, called and spoken to as that one is: its virtual devices, its console, its gRPC
 * interface, its announcements to the adb server and to its clients, and Debian's adbd in the place of the device. A snapshot
 * keeps what was typed. `FAKE_EMULATOR_BOOT_MS` is how long it boots: `never` without end, `dies` not at all.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { listensOnTcp } from '../traces.ts'
import { listenConsole } from './console.ts'
import { announce, prepareState, startDevice } from './device.ts'
import { listenGrpc } from './grpc.ts'

const home = process.env.HOME ?? '/'
const avds = process.env.ANDROID_AVD_HOME ?? join(home, '.android/avd')
const sdk = join(dirname(process.execPath), '..')

/** The arguments that take a value, and those that take none. */
const valued = new Set(['-avd', '-port', '-snapshot', '-accel', '-gpu', '-grpc', '-memory', '-cores'])
const plain = new Set([
  '-no-window',
  '-no-audio',
  '-no-boot-anim',
  '-no-snapshot-save',
  '-no-snapshot-load',
  '-no-metrics',
])

if (process.argv[2] === '-accel-check') {
  const isThere = process.env.FAKE_EMULATOR_ACCEL !== 'none'
  console.log(isThere ? 'accel:\n0\nKVM (version 12) is installed and usable.\naccel' : '/dev/kvm is not found')
  process.exit(isThere ? 0 : 8)
}

const options: Record<string, string> = {}
const words = process.argv.slice(2)
for (let word = words.shift(); word !== undefined; word = words.shift()) {
  if (valued.has(word)) options[word] = words.shift() ?? ''
  else if (plain.has(word)) options[word] = ''
  else panic(`unknown option: ${word}; please use -help for a list of valid options`)
}

function panic(text: string): never {
  console.error(`PANIC: ${text}`)
  process.exit(1)
}

if (process.env.FAKE_EMULATOR_BOOT_MS === 'dies') panic('it dies')

const name = options['-avd'] ?? ''
const avd = join(avds, `${name}.avd`)
if (name === '' || !existsSync(join(avds, `${name}.ini`)) || !existsSync(join(avd, 'config.ini'))) {
  panic(`Unknown AVD name [${name}], use -list-avds to see valid list.`)
}
if (existsSync(join(avd, 'multiinstance.lock'))) panic(`Running multiple emulators with the same AVD`)
writeFileSync(join(avd, 'multiinstance.lock'), '')

const port = Number(options['-port'] ?? 5_554)
const state = join(avd, 'device')
const snapshotOf = (snapshot: string) => join(avd, 'snapshots', snapshot)
const isLoaded =
  options['-snapshot'] !== undefined &&
  !('-no-snapshot-load' in options) &&
  existsSync(snapshotOf(options['-snapshot']))
// The disk of a device stays; its memory, of which the journal tells, does not.
for (const memory of ['booted', 'journal']) rmSync(join(state, memory), { force: true })
if (isLoaded) cpSync(join(snapshotOf(String(options['-snapshot'])), 'typed'), join(state, 'typed'))
prepareState(state)
writeFileSync(join(state, 'arguments'), process.argv.slice(2).join(' '))

const token = join(home, '.emulator_console_auth_token')
if (!existsSync(token)) writeFileSync(token, crypto.randomUUID().replaceAll('-', '').slice(0, 16), { mode: 0o600 })

const parts: Bun.Subprocess[] = []
const running = join(process.env.XDG_RUNTIME_DIR ?? join(home, '.android'), 'avd/running')
const advertisement = join(running, `pid_${process.pid}.ini`)
const end = (status: number): never => {
  for (const part of parts) part.kill('SIGKILL')
  for (const file of [advertisement, join(avd, 'multiinstance.lock')]) rmSync(file, { force: true })
  process.exit(status)
}
process.on('SIGTERM', () => end(0))
process.on('SIGINT', () => end(0))

listenConsole(port, readFileSync(token, 'utf8').trim(), {
  kill() {
    setTimeout(() => end(0), 50)
    return ['OK: killing emulator, bye bye']
  },
  'avd name': () => [name],
  'avd status': () => ['virtual device is running'],
  'avd pause': () => [],
  'avd resume': () => [],
  'avd snapshot save': ([snapshot = '']) => {
    mkdirSync(snapshotOf(snapshot), { recursive: true })
    cpSync(join(state, 'typed'), join(snapshotOf(snapshot), 'typed'))
    return []
  },
  'avd snapshot load': ([snapshot = '']) => {
    if (!existsSync(snapshotOf(snapshot))) throw new Error(`Snapshot ${snapshot} not found`)
    cpSync(join(snapshotOf(snapshot), 'typed'), join(state, 'typed'))
    return []
  },
  'avd snapshot del': ([snapshot = '']) => {
    rmSync(snapshotOf(snapshot), { recursive: true, force: true })
    return []
  },
})

const grpcToken = crypto.randomUUID()
const grpcPort = Number(options['-grpc'] ?? port + 3_000)
rmSync(join(state, 'grpc'), { force: true })
await listenGrpc(grpcPort, grpcToken, state)
mkdirSync(running, { recursive: true })
const fields = {
  'port.serial': port,
  'port.adb': port + 1,
  'avd.name': name,
  'avd.dir': avd,
  'grpc.port': grpcPort,
  'grpc.token': grpcToken,
}
writeFileSync(
  advertisement,
  Object.entries(fields)
    .map(([key, value]) => `${key}=${value}\n`)
    .join(''),
)

if (!('-no-window' in options)) {
  const window = [
    'xterm',
    '-T',
    `Android Emulator - ${name}:${port}`,
    '-e',
    'echo "a stand-in for a device"; exec sleep infinity',
  ]
  parts.push(Bun.spawn(window, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }))
}
const adbd = startDevice(join(sdk, 'fake/adbd'), state, port + 1)
parts.push(adbd)
void adbd.exited.then(() => end(1))
// A server that is told of a device which does not listen yet forgets it.
const announced = setInterval(() => {
  if (!listensOnTcp(adbd.pid)) return
  clearInterval(announced)
  announce(port + 1)
}, 50)

const boots = process.env.FAKE_EMULATOR_BOOT_MS ?? '1000'
if (isLoaded) writeFileSync(join(state, 'booted'), '')
else if (boots !== 'never') setTimeout(() => writeFileSync(join(state, 'booted'), ''), Number(boots))
