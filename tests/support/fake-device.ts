/**
 * An Android device for tests: a real adb server and a real adbd, in namespaces of their own, and behind them stand-ins for
 * the programs of Android, which write down what they are given. `inotifyd` is Android's own, as Debian has it (toybox); the
 * other programs of the shell are this machine's.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adbPrograms, toyboxProgram } from './adb-programs.ts'
import { startComputer, type TestComputer } from './computer.ts'
import { compileFakeAgent } from './fake-agent.ts'

/** Its serial, as `adb devices` lists it. */
export const fakeSerial = '127.0.0.1:5599'

/** Pixels of its screen. */
export const fakeScreen = { width: 1_080, height: 1_920 } as const

const root = join(import.meta.dir, '../..')

export interface FakeDevice extends AsyncDisposable {
  /** The variables by which adb's clients find its server. */
  readonly environment: Readonly<Record<string, string>>
  /** The calls of Android's programs since it was last asked, oldest first; those of some programs alone. */
  arrived(...programs: readonly string[]): string[][]
  /** What a person would read in the field that has the focus. */
  typed(): string
  /** Writes one of its files: what it answers. */
  set(name: string, content: string | Uint8Array): void
  /** Removes one. */
  unset(name: string): void
  /** Reads one. */
  read(name: string): Buffer
  /** What its adb and adbd wrote. */
  log(): string
}

/** What `getevent -p` tells of the emulator's touch screen, and of a keyboard before it. */
const devices = `add device 1: /dev/input/event0
  name:     "qwerty2"
  events:
    KEY (0001): 0001  0002  0003  0004
  input props:
    <none>
add device 2: @TOUCH@
  name:     "virtio_input_multi_touch_1"
  events:
    KEY (0001): 0145  014a
    ABS (0003): 002f  : value 0, min 0, max 9, fuzz 0, flat 0, resolution 0
                0035  : value 0, min 0, max 32767, fuzz 0, flat 0, resolution 0
                0036  : value 0, min 0, max 32767, fuzz 0, flat 0, resolution 0
                0039  : value 0, min 0, max 65535, fuzz 0, flat 0, resolution 0
                003a  : value 0, min 0, max 1024, fuzz 0, flat 0, resolution 0
  input props:
    INPUT_PROP_DIRECT
`

/** What a device has that others have not. */
export interface FakeDeviceOptions {
  /** Whether it runs our agent. @default false */
  readonly agent?: boolean
}

/** Starts one that has booted; settles when the adb server has it. */
export const startFakeDevice = async ({ agent = false }: FakeDeviceOptions = {}): Promise<FakeDevice> => {
  const { adb, adbd, libraries } = await adbPrograms()
  const toybox = await toyboxProgram()
  const state = mkdtempSync(join(tmpdir(), 'device-'))
  const set = (name: string, content: string | Uint8Array) => writeFileSync(join(state, name), content)
  set('journal', '')
  set('typed', '')
  set('touch', '')
  set('devices', devices)
  set('booted', '')
  set('drawn', '')
  set('sdk', '30\n')
  set('turn', '0\n')
  set('input-method', 'com.android.inputmethod.latin/.LatinIME\n')
  const head = Buffer.alloc(16)
  head.writeUInt32LE(fakeScreen.width, 0)
  head.writeUInt32LE(fakeScreen.height, 4)
  set('screen.raw', head)
  if (agent) compileFakeAgent(join(state, 'agent'))
  const log = openSync(join(state, 'log'), 'w')
  const child = Bun.spawn(
    [
      join(root, 'tests/support/apart'),
      state,
      join(root, 'tests/support/fixtures/fake-device'),
      state,
      adb,
      adbd,
      libraries,
      toybox,
    ],
    { cwd: root, stdin: 'ignore', stdout: 'pipe', stderr: log },
  )
  closeSync(log)
  const read = (name: string) => readFileSync(join(state, name))
  const said = () => ['log', 'adb.log', 'adbd.log'].map((name) => read(name).toString()).join('\n')
  const end = async () => {
    child.kill('SIGKILL')
    await child.exited
    rmSync(state, { recursive: true, force: true })
  }
  const { value } = await child.stdout.getReader().read()
  if (new TextDecoder().decode(value).trim() !== 'ready') {
    const why = read('log')
    await end()
    throw new Error(`the device did not start: ${why}`)
  }
  let taken = 0
  return {
    environment: { ADB_SERVER_SOCKET: `localfilesystem:${state}/adb` },
    arrived(...programs) {
      const journal = read('journal')
      const calls = journal.subarray(taken).toString().split('\x1e').slice(0, -1)
      taken = journal.byteLength
      return calls
        .map((call) => call.split('\x1f').slice(0, -1))
        .filter(([name = '']) => programs.length === 0 || programs.includes(name))
    },
    typed: () => read('typed').toString(),
    set,
    unset: (name) => rmSync(join(state, name), { force: true }),
    read,
    log: said,
    [Symbol.asyncDispose]: end,
  }
}

/** A device and a computer server for it. */
export interface FakePhone extends AsyncDisposable {
  readonly device: FakeDevice
  readonly computer: TestComputer
}

/** Starts both; settles when the server has found the device. */
export const startFakePhone = async (options?: FakeDeviceOptions): Promise<FakePhone> => {
  const device = await startFakeDevice(options)
  try {
    const computer = await startComputer(['--android', '--serial', fakeSerial, '--port', '0'], device.environment)
    return {
      device,
      computer,
      async [Symbol.asyncDispose]() {
        await computer[Symbol.asyncDispose]()
        await device[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await device[Symbol.asyncDispose]()
    throw error
  }
}
