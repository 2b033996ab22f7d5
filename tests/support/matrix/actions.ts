/** The actions of the matrix: which call each makes, and what the application's journal must say then. */
import { element, middleOf, type Target, windowsOf } from '../look.ts'
import type { McpClient, Result } from '../mcp-client.ts'
import { until } from '../until.ts'
import type { Scene, Witness } from './scene.ts'

/** One action. */
export interface Action {
  /** Whether the toolkit offers what the action needs. */
  fits(scene: Scene): boolean
  run(client: McpClient, scene: Scene): Promise<Result>
  arrived(witness: Witness): boolean
}

/** What is typed: capitals, an umlaut, other scripts, a character beyond the first plane. */
export const text = 'Grüße, WORLD! Жé€ 世界 😀'

const always = (): boolean => true
const indexOf = async (client: McpClient, target: Target, label: string): Promise<number> =>
  (await element(client, target, label)).element_index

const at = (scene: Scene) => ({ ...scene.target, ...scene.place })

/** Empties the field. */
export const cleared = async (client: McpClient, { target, field }: Scene): Promise<void> => {
  if (field === null) return
  await client.call('set_value', { ...target, element_index: await indexOf(client, target, field), value: '' })
}

/** Types the text. */
export const typeInto = async (client: McpClient, { target, field, needsReturn }: Scene): Promise<Result> => {
  const where = field === null ? {} : { element_index: await indexOf(client, target, field) }
  const result = await client.call('type_text', { ...target, ...where, text })
  if (needsReturn && !result.isError) await client.call('press_key', { ...target, key: 'return' })
  return result
}

/** Clicks into the field; in a window that no click reaches the focus stays where it was. */
const focusField = async (client: McpClient, { target, field }: Scene): Promise<void> => {
  if (field !== null) await client.call('click', { ...target, ...(await middleOf(client, target, field)) })
}

/** A context menu that a right click opened would take what comes next. */
const closeMenus = async (client: McpClient, target: Target): Promise<void> => {
  const areOpen = async () => (await windowsOf(client, target.pid)).some(({ kind }) => kind === 'popup')
  await until('its menu to open', areOpen)
  await client.call('press_key', { ...target, key: 'escape' })
  await until('its menus to be closed', async () => !(await areOpen()))
}

/** By the name that the table shows. */
export const actions: Readonly<Record<string, Action>> = {
  click: {
    fits: always,
    run: (client, scene) => client.call('click', at(scene)),
    arrived: (witness) => witness.pressed(1),
  },
  'double click': {
    fits: always,
    run: (client, scene) => client.call('double_click', at(scene)),
    arrived: (witness) => witness.doubled(),
  },
  'right click': {
    fits: always,
    async run(client, scene) {
      const result = await client.call('right_click', at(scene))
      if (!result.isError && scene.opensMenu) await closeMenus(client, scene.target)
      return result
    },
    arrived: (witness) => witness.pressed(3),
  },
  'middle click': {
    fits: always,
    run: (client, scene) => client.call('click', { ...at(scene), button: 'middle' }),
    arrived: (witness) => witness.pressed(2),
  },
  drag: {
    fits: always,
    run(client, { target, path: [from, to] }) {
      const path = { from_x: from.x, from_y: from.y, to_x: to.x, to_y: to.y }
      return client.call('drag', { ...target, ...path, duration_ms: 200, steps: 12 })
    },
    arrived: (witness) => witness.dragged(),
  },
  wheel: {
    fits: always,
    run: (client, scene) => client.call('scroll', { ...at(scene), direction: 'down', mode: 'wheel', amount: 3 }),
    arrived: (witness) => witness.wheeled(),
  },
  'scroll by element': {
    fits: ({ scrolls }) => scrolls !== null,
    run: async (client, { target, scrolls }) =>
      client.call('scroll', {
        ...target,
        element_index: await indexOf(client, target, scrolls ?? ''),
        direction: 'down',
        by: 'page',
        amount: 1,
      }),
    arrived: (witness) => witness.scrolled(),
  },
  key: {
    fits: always,
    async run(client, { target, field }) {
      const where = field === null ? {} : { element_index: await indexOf(client, target, field) }
      return client.call('press_key', { ...target, ...where, key: 'b' })
    },
    arrived: (witness) => witness.key('b'),
  },
  hotkey: {
    fits: always,
    run: (client, { target }) => client.call('hotkey', { ...target, keys: ['ctrl', 'a'] }),
    arrived: (witness) => witness.control('a'),
  },
  text: {
    fits: always,
    async run(client, scene) {
      await cleared(client, scene)
      return typeInto(client, scene)
    },
    arrived: (witness) => witness.text(text),
  },
  'text without element': {
    fits: always,
    async run(client, scene) {
      await cleared(client, scene)
      await focusField(client, scene)
      return typeInto(client, { ...scene, field: null })
    },
    arrived: (witness) => witness.text(text),
  },
  element: {
    fits: ({ button }) => button !== null,
    run: async (client, { target, button }) =>
      client.call('click', { ...target, element_index: await indexOf(client, target, button ?? '') }),
    arrived: (witness) => witness.operated(),
  },
}
