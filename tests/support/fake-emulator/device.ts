/** The device in the fake emulator: Debian's adbd, and behind it the stand-ins of Android's programs. */
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import program from '../fixtures/fake-device-program' with { type: 'text' }

const names = ['input', 'am', 'pidof', 'cmd', 'settings', 'getprop', 'getevent', 'dumpsys', 'screencap', 'uiautomator']

/** Pixels of its screen. */
export const screen = { width: 1_080, height: 1_920 } as const

/** Writes what the stand-ins answer of; what a snapshot put there stays. */
export const prepareState = (state: string): void => {
  mkdirSync(state, { recursive: true })
  const head = Buffer.alloc(16)
  head.writeUInt32LE(screen.width, 0)
  head.writeUInt32LE(screen.height, 4)
  const usual: Record<string, string | Uint8Array> = {
    journal: '',
    typed: '',
    touch: '',
    devices: '',
    drawn: '',
    sdk: '30\n',
    turn: '0\n',
    'input-method': 'com.android.inputmethod.latin/.LatinIME\n',
    'screen.raw': head,
  }
  for (const [name, content] of Object.entries(usual)) {
    if (!existsSync(join(state, name))) writeFileSync(join(state, name), content)
  }
  const programs = join(state, 'programs')
  mkdirSync(programs, { recursive: true })
  const file = join(state, 'program')
  writeFileSync(file, program)
  chmodSync(file, 0o755)
  for (const name of names) {
    rmSync(join(programs, name), { force: true })
    symlinkSync(file, join(programs, name))
  }
}

/** Starts adbd at a port. */
export const startDevice = (adbd: string, state: string, port: number): Bun.Subprocess =>
  Bun.spawn([adbd], {
    env: {
      ...process.env,
      FAKE_DEVICE: state,
      ADBD_PORT: String(port),
      PATH: `${join(state, 'programs')}:${process.env.PATH ?? ''}`,
    },
    stdin: 'ignore',
    stdout: Bun.file(join(state, 'adbd.log')),
    stderr: Bun.file(join(state, 'adbd.log')),
  })

/** Tells the adb server of the device, as emulators do; where none listens nobody is told, and one that starts looks itself. */
export const announce = (port: number): void => {
  const request = `host:emulator:${port}`
  const socket = connect(Number(process.env.ANDROID_ADB_SERVER_PORT ?? 5_037), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.end(`${request.length.toString(16).padStart(4, '0')}${request}`)
}
