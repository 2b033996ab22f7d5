import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { inBothForms } from '../support/forms.ts'
import type { Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { pixelsOf } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let target: Target

beforeAll(async () => {
  const app = await startGtk3(on(), 'controls', { geometry: '420x480+120+100' })
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

test(
  'the configuration is read and changed, at once and for good',
  proving(
    [
      'driver.get-config.call',
      'driver.set-config.call',
      'driver.set-config.capture-mode',
      'driver.set-config.max-image-dimension',
    ],
    async () => {
      interface Config {
        readonly capture_mode: string
        readonly max_image_dimension: number
        readonly config_file: string
      }
      await client.ask('set_config', {})
      for (const config of await inBothForms<Config>(on(), client, 'get_config')) {
        expect(config).toMatchObject({ capture_mode: 'som', max_image_dimension: 0 })
      }
      const changed = { capture_mode: 'vision', max_image_dimension: 210 }
      const [, { config_file }] = await inBothForms<Config>(on(), client, 'set_config', changed)
      const state = await client.ask<Record<string, unknown>>('get_window_state', { ...target })
      expect(state).toMatchObject({ screenshot_width: 184, screenshot_height: 210 })
      expect(state.tree_markdown).toBeUndefined()
      expect(existsSync(config_file)).toBe(true)
      const fresh = await on().backlot(['get_config', '{}', '--direct'])
      expect(JSON.parse(fresh.stdout)).toMatchObject(changed)
      await client.ask('set_config', { capture_mode: 'som', max_image_dimension: 0 })
      expect(await client.ask<Record<string, unknown>>('get_window_state', { ...target })).toMatchObject({
        screenshot_width: 420,
      })
    },
  ),
)

test(
  'the configuration says how a look is taken unless the call does',
  proving(
    ['driver.config.capture-mode', 'driver.config.max-image-dimension', 'driver.limits.max-image-dimension'],
    async () => {
      const sizeOf = async (args: Record<string, unknown> = {}) => {
        const { image, structured } = await client.call('get_window_state', { ...target, ...args })
        const { width, height } = image === null ? { width: 0, height: 0 } : await pixelsOf(image)
        return [width, height, 'tree_markdown' in structured]
      }
      const looks = [
        [{ capture_mode: 'ax' }, [0, 0, true]],
        [{ capture_mode: 'vision' }, [420, 480, false]],
        [{ max_image_dimension: 120 }, [105, 120, false]],
        [{ max_image_dimension: 481 }, [420, 480, false]],
        [{ max_image_dimension: 0, capture_mode: 'som' }, [420, 480, true]],
      ] as const
      for (const [change, seen] of looks) {
        await client.ask('set_config', change)
        expect([change, await sizeOf()]).toEqual([change, [...seen]])
      }
      await client.ask('set_config', { capture_mode: 'vision' })
      expect(await sizeOf({ capture_mode: 'ax' })).toEqual([0, 0, true])
      await client.ask('set_config', { capture_mode: 'som' })
    },
  ),
)

test(
  'the geometry of the preview is WxH or WxH+X+Y',
  proving(['driver.config.experimental-pip-geometry'], async () => {
    for (const experimental_pip_geometry of ['320x200', '320x200+10+20', '']) {
      for (const config of await inBothForms(on(), client, 'set_config', { experimental_pip_geometry })) {
        expect(config).toMatchObject({ experimental_pip_geometry })
      }
      expect(await client.ask('get_config')).toMatchObject({ experimental_pip_geometry })
    }
    for (const experimental_pip_geometry of ['320', '320x', 'x200', '320x200+10', 'big', '0x200']) {
      expect((await client.call('set_config', { experimental_pip_geometry })).structured.code).toBe('invalid_argument')
    }
  }),
)
