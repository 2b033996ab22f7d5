import { afterAll, beforeAll, expect, onTestFinished, test } from 'bun:test'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Application, startGtk3 } from '../../support/applications.ts'
import { startBareServer } from '../../support/bare-server.ts'
import { privateDesktop } from '../../support/desktop.ts'
import { driverCommand } from '../../support/driver.ts'
import { probed } from '../../support/filming.ts'
import { middleOf, type Target } from '../../support/look.ts'
import { connect, type McpClient } from '../../support/mcp-client.ts'
import { sessionIn, turnIn, turnsIn } from '../../support/recorded.ts'
import { until } from '../../support/until.ts'

const on = privateDesktop()
let app: Application
let target: Target
let client: McpClient

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

interface State {
  readonly enabled: boolean
  readonly next_turn: number
  readonly last_error: string | null
  readonly video_active: boolean
}

const stateNow = () => client.ask<State>('get_recording_state')

/** Presses a button, which must work whatever becomes of the recording. */
const press = async (through = client): Promise<void> => {
  const mark = app.journal.mark()
  await through.ask('click', { ...target, ...(await middleOf(through, target, 'Press me')) })
  await app.journal.waitFor('the click', ({ type }) => type === 'clicked', mark)
}

/** Leaves no room on the disk of a file. */
const fillUp = (path: string): void => {
  try {
    for (;;) appendFileSync(path, new Uint8Array(65_536))
  } catch (error) {
    expect((error as { code?: string }).code).toBe('ENOSPC')
  }
}

/** Every turn that is there has what belongs to it. */
const readable = async (folder: string): Promise<number> => {
  const turns = turnsIn(folder)
  for (const name of turns) {
    const { files, action, read } = await turnIn(folder, Number(name.slice(5)))
    expect([name, files, action.ok]).toEqual([
      name,
      ['action.json', 'app_state.json', 'click.png', 'screenshot.png'],
      true,
    ])
    expect(read('screenshot.png').subarray(-8, -4).toString()).toBe('IEND')
  }
  return turns.length
}

/** A file system of so many mebibytes, which goes with the test. */
const smallDisk = async (name: string, mebibytes: number): Promise<string> => {
  const disk = on().path(name)
  mkdirSync(disk)
  const command = ['mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'small', disk] as const
  expect((await on().run([...command])).status).toBe(0)
  onTestFinished(() => void Bun.spawnSync(['umount', '--lazy', disk]))
  return disk
}

test('a disk that fills up ends no call, and what was written can be read', async () => {
  const disk = await smallDisk('disk', 2)
  const folder = join(disk, 'recording')
  await client.ask('start_recording', { output_dir: folder })
  await press()
  await turnIn(folder, 1)
  // Room for some more, then none.
  writeFileSync(join(disk, 'other'), new Uint8Array(1_400_000))
  const full = await until('the disk to be full', async () => {
    await press()
    const { last_error } = await stateNow()
    return last_error?.includes('no space left on device') ? last_error : undefined
  })
  expect(full).toMatch(/^Turn \d+ was not written to ".+": .+\. Make room there/)
  await press()
  expect(await stateNow()).toMatchObject({ enabled: true })
  const before = await readable(folder)
  expect(before).toBeGreaterThanOrEqual(1)
  rmSync(join(disk, 'other'))
  const { next_turn } = await stateNow()
  await press()
  await turnIn(folder, next_turn)
  await client.ask('stop_recording')
  expect(await readable(folder)).toBeGreaterThan(before)
  expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
})

test('a disk that fills up ends a film that no ffmpeg made and no call; what was filmed plays', async () => {
  const disk = await smallDisk('disk of a film', 8)
  const folder = join(disk, 'recording')
  const film = join(folder, 'recording.mp4')
  const socket = on().path('alone.sock')
  const programs = on().path('no programs')
  mkdirSync(programs)
  await using agent = await connect(on().with({ PATH: programs }), '--socket', socket)
  const started = await agent.ask<State>('start_recording', { output_dir: folder, record_video: true })
  expect(started).toMatchObject({ video_active: true, last_error: null })
  // Something to film that takes room.
  const terminal = on().start(['xterm', '-geometry', '150x50+0+0', '-e', 'sh', '-c', 'while :; do date +%N; done'])
  const parts = () => readFileSync(film).toString('latin1').split('moof').length - 1
  await until('the first parts of the film', () => existsSync(film) && parts() > 2)
  fillUp(join(disk, 'other'))
  const whole = parts()
  const state = () => agent.ask<State>('get_recording_state')
  const full = await until('the film to end', async () => {
    const now = await state()
    return now.video_active ? undefined : now
  })
  expect(full.enabled).toBe(true)
  expect(full.last_error).toStartWith(`The film "${film}" cannot be written: No space left on device`)
  expect(full.last_error).toContain('make room or choose another folder')
  terminal.kill()
  await terminal.exited
  await press(agent)
  rmSync(join(disk, 'other'))
  const { next_turn } = await state()
  await press(agent)
  await turnIn(folder, next_turn)
  const { stopped } = await agent.ask<{ stopped: object[] }>('stop_recording')
  expect(stopped).toMatchObject([{ last_video_path: film, last_error: full.last_error }])
  expect(sessionIn(folder)).toMatchObject({ last_error: full.last_error, last_video_path: film })
  const { codec_name, frames, seconds } = await probed(film)
  expect([codec_name, frames]).toEqual(['h264', seconds * 30])
  expect(frames).toBeGreaterThanOrEqual((whole - 1) * 30)
  const decoded = await on().run(['ffmpeg', '-v', 'error', '-i', film, '-f', 'null', '-'])
  expect(decoded).toMatchObject({ status: 0, stderr: '' })
  await on().run(driverCommand('stop', '--socket', socket))
})

test('a folder that vanishes ends no call, and is not made again', async () => {
  const folder = on().path('to vanish')
  await client.ask('start_recording', { output_dir: folder })
  await press()
  await turnIn(folder, 1)
  rmSync(folder, { recursive: true })
  await press()
  const error = await until('the error', async () => (await stateNow()).last_error)
  expect(error).toContain(`was not written to "${folder}"`)
  await press()
  const stopped = await client.ask<{ stopped: readonly State[] }>('stop_recording')
  expect(stopped.stopped[0]?.last_error).toContain(folder)
  expect(existsSync(folder)).toBe(false)
})

test('when the display goes away the calls say so, the recording too, and its turns stay', async () => {
  await using server = await startBareServer()
  const socket = on().path('lost.sock')
  const lost = on().with({ DISPLAY: server.display })
  const terminal = lost.start(['xterm'])
  await using agent = await connect(lost, '--socket', socket)
  const folder = on().path('lost')
  const window = await until('the terminal', async () => {
    const { windows } = await agent.ask<{ windows: Target[] }>('list_windows')
    return windows[0]
  })
  await agent.ask('start_recording', { output_dir: folder })
  const key = { pid: window.pid, window_id: window.window_id, key: 'a' }
  await agent.ask('press_key', key)
  await turnIn(folder, 1)
  process.kill(server.pid, 'SIGKILL')
  await terminal.exited
  rmSync(`/tmp/.X11-unix/X${server.display.slice(1)}`)
  expect((await agent.call('press_key', key)).structured.code).toBe('display_lost')
  const state = await until('the error', async () => {
    const now = await agent.ask<State>('get_recording_state')
    return now.last_error !== null && now
  })
  expect(state.enabled).toBe(true)
  expect((await turnIn(folder, 2)).action).toMatchObject({ ok: false, error: { code: 'display_lost' } })
  await agent.ask('stop_recording')
  expect((await turnIn(folder, 1)).action.ok).toBe(true)
  expect(sessionIn(folder)).toMatchObject({ stopped_because: 'stop_recording', last_error: state.last_error })
  await on().run(driverCommand('stop', '--socket', socket))
})

test('a film whose driver is killed plays, and nothing goes on filming', async () => {
  const socket = on().path('killed.sock')
  await using agent = await connect(on(), '--socket', socket)
  const folder = on().path('killed')
  expect(
    await agent.ask<Record<string, unknown>>('start_recording', { output_dir: folder, record_video: true }),
  ).toMatchObject({
    video_active: true,
    last_error: null,
  })
  const film = join(folder, 'recording.mp4')
  const { pid } = JSON.parse((await on().run(driverCommand('status', '--socket', socket))).stdout)
  const parts = () => readFileSync(film).toString('latin1').split('moof').length - 1
  await until('the first parts of the film', () => existsSync(film) && parts() > 2)
  process.kill(pid, 'SIGKILL')
  const count = async () => {
    const { stdout } = await on().run([
      'ffprobe',
      '-v',
      'error',
      '-count_frames',
      '-show_entries',
      'stream=nb_read_frames',
      '-of',
      'csv=p=0',
      film,
    ])
    return Number(stdout)
  }
  const users = async () =>
    (await on().run(['sh', '-c', `ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c -F '${film}' || true`])).stdout.trim()
  await until('nobody to write to the film', async () => (await users()) === '0')
  expect(await count()).toBeGreaterThanOrEqual(30)
})
