import { beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { connect } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { displayState, type Pixels, photograph, pixelsOf } from '../support/witness/index.ts'

const on = privateDesktop()
let app: Application

beforeAll(async () => {
  app = await startGtk3(on(), 'controls', { geometry: '420x480+100+100' })
})

const place = { x: 900, y: 500, width: 210, height: 240 }

/** Mean brightness of a part of the display, or of a whole picture. */
const brightness = ({ rgb, width }: Pixels, { x, y, width: w, height: h }: typeof place): number => {
  let sum = 0
  for (let row = y; row < y + h; row++) {
    for (const value of rgb.subarray((row * width + x) * 3, (row * width + x + w) * 3)) sum += value
  }
  return sum / (w * h * 3)
}

const screen = async (): Promise<Pixels> => {
  const shot = Bun.spawn(['import', '-silent', '-window', 'root', 'png:-'], { env: on().env, stdout: 'pipe' })
  return pixelsOf(await shot.stdout.bytes())
}

test(
  'a daemon that begins with experimental_pip shows the window acted on, small, to the person alone',
  proving(
    [
      'driver.config.experimental-pip',
      'driver.set-config.experimental-pip',
      'driver.set-config.experimental-pip-geometry',
    ],
    async () => {
      const config = (key: string, value: string) => on().run(driverCommand('config', 'set', key, value))
      await config('experimental_pip', 'true')
      await config('experimental_pip_geometry', '210x240+900+500')
      await using client = await connect(on())
      const bare = brightness(await screen(), place)
      const whole = await photograph(on(), app.windowId)
      const wanted = brightness(whole, { x: 0, y: 0, width: whole.width, height: whole.height })
      expect(Math.abs(wanted - bare)).toBeGreaterThan(30)
      const before = await displayState(on())
      await client.ask('click', { pid: app.pid, window_id: app.windowId, x: 5, y: 5 })
      // Half of the window's size, so as bright as that.
      await until('the preview', async () => Math.abs(brightness(await screen(), place) - wanted) < 6)
      const after = await displayState(on())
      expect([after.pointer, after.focus]).toEqual([before.pointer, before.focus])
      const { image } = await client.call('get_desktop_state')
      expect(Math.abs(brightness(await pixelsOf(image ?? new Uint8Array()), place) - bare)).toBeLessThan(6)
      const { windows } = await client.ask<{ windows: { pid: number }[] }>('list_windows')
      expect(windows.filter(({ pid }) => pid !== app.pid)).toEqual([])
    },
  ),
)

test('the preview goes on with a window that is drawn without a pause', async () => {
  const config = (key: string, value: string) => on().run(driverCommand('config', 'set', key, value))
  await config('experimental_pip', 'true')
  await config('experimental_pip_geometry', '210x240+900+500')
  await using client = await connect(on())
  // Clears itself every four milliseconds, light for a second and dark for the next.
  const draw = String.raw`while :; do printf '\e[%sm\e[2J' $((SECONDS % 2 ? 107 : 40)); read -rt 0.004; done`
  on().start(['xterm', '-T', 'restless', '-geometry', '60x24+40+40', '-e', 'bash', '-c', draw])
  const restless = await until('the terminal', async () => {
    const { windows } = await client.ask<{ windows: { pid: number; window_id: number; title: string }[] }>(
      'list_windows',
    )
    return windows.find(({ title }) => title === 'restless')
  })
  await client.ask('click', { pid: restless.pid, window_id: restless.window_id, x: 50, y: 50 })
  const part = ['-crop', `${place.width}x${place.height}+${place.x}+${place.y}`, '+repage']
  const shown = async (): Promise<number> => {
    await Bun.sleep(100)
    const shot = Bun.spawn(['import', '-silent', '-window', 'root', ...part, 'png:-'], {
      env: on().env,
      stdout: 'pipe',
    })
    return brightness(await pixelsOf(await shot.stdout.bytes()), { ...place, x: 0, y: 0 })
  }
  for (let times = 0; times < 4; times++) {
    await until('the preview to be light', async () => (await shown()) > 90)
    await until('the preview to be dark', async () => (await shown()) < 60)
  }
})
