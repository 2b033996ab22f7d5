/** What the demo does with an editor: the way of an agent from finding the window to the saved file. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { DemoClient } from './client.ts'
import type { Steps } from './steps.ts'

/** The editor. */
export const editor = { program: 'mousepad', bundleId: 'org.xfce.mousepad', debianPackage: 'mousepad' } as const

const greeting = 'A letter\n\n'
// Characters of the fonts that every desktop has, so that the screenshot shows them all.
const letter =
  'Grüße aus dem Studio! Привет! Γειά σου! ¿Qué tal? → ✓ ♫\nTyped by an agent into a window that nobody looked at.\n'

interface Element {
  readonly element_index: number
  readonly role: string
  readonly label: string
  readonly states: readonly string[]
}

interface State {
  readonly tree_markdown: string
  readonly elements: readonly Element[]
}

interface Opened {
  readonly pid: number
  readonly windows: readonly { readonly window_id: number; readonly title: string; readonly pid: number }[]
}

const failed = (text: string): Failure => new Failure('internal', `${text} The file calls.jsonl shows each call.`)

const find = (elements: readonly Element[], what: string, fits: (element: Element) => boolean): Element => {
  const element = elements.find(fits)
  if (element === undefined) throw failed(`There is no ${what} in the editor's window.`)
  return element
}

/** Plays the demo's part after the client is connected; `kept` gets `screenshot.png` and `tree.md`. */
export const driveEditor = async (
  steps: Steps,
  client: DemoClient,
  { document, kept }: { readonly document: string; readonly kept: string },
): Promise<void> => {
  writeFileSync(document, greeting)
  await steps.run('check that the desktop can be read and driven', async () => {
    const { structured } = await client.call<{ accessibility: boolean; screen_recording: boolean }>('check_permissions')
    if (!structured.accessibility || !structured.screen_recording) throw failed('The desktop cannot be driven.')
  })
  const { pid } = await steps.run(`open a letter in ${editor.program}, in the background`, async () => {
    const opened = await client.call<Opened>('launch_app', { bundle_id: editor.bundleId, urls: [document] })
    return opened.structured
  })
  const { window_id } = await steps.run('find its window', async () => {
    const { structured } = await client.call<Opened>('list_windows', { pid })
    const window = structured.windows.find(({ title }) => title.includes('letter.txt'))
    if (window === undefined) throw failed('The editor has no window with the letter.')
    return window
  })
  const read = async () =>
    (await client.call<State>('get_window_state', { pid, window_id, capture_mode: 'ax' })).structured
  const press = async (element: Element) =>
    void (await client.call('click', { pid, window_id, element_index: element.element_index }))

  await steps.run('read its elements', read)
  await steps.run('open the menu "View" with a click', async () => {
    const { elements } = await read()
    await press(find(elements, 'menu "View"', ({ role, label }) => role === 'menu' && label === 'View'))
  })
  await steps.run('choose "Line Numbers" in it', async () => {
    const { elements } = await read()
    await press(find(elements, 'menu item "Line Numbers"', ({ label }) => label.trim() === 'Line Numbers'))
  })
  await steps.run('type two lines of Unicode', async () => {
    const { elements } = await read()
    const { element_index } = find(elements, 'text', ({ role }) => role === 'text')
    await client.call('press_key', { pid, window_id, element_index, key: 'end', modifiers: ['ctrl'] })
    await client.call('type_text', { pid, window_id, element_index, text: letter })
  })
  await steps.run('save with Ctrl+S', async () => {
    await client.call('press_key', { pid, window_id, key: 's', modifiers: ['ctrl'] })
  })
  await steps.run('read the saved file back', () => savedAs(document, greeting + letter))
  await steps.run('photograph the window and keep its tree', () => keepWindow(client, { pid, window_id }, kept))
}

/** Writes the picture and the tree of the window into the folder `kept`. */
const keepWindow = async (client: DemoClient, window: { pid: number; window_id: number }, kept: string) => {
  const { structured, image } = await client.call<State>('get_window_state', window)
  if (image === null) throw failed('There is no picture of the window.')
  writeFileSync(join(kept, 'screenshot.png'), image)
  writeFileSync(join(kept, 'tree.md'), structured.tree_markdown)
}

/** Settles when the file holds `text`: the editor writes after the key has arrived. */
const savedAs = async (file: string, text: string): Promise<void> => {
  const deadline = performance.now() + 5_000
  let held = ''
  while (performance.now() < deadline) {
    held = readFileSync(file, 'utf8')
    if (held === text) return
    await Bun.sleep(5)
  }
  throw failed(`The file holds ${JSON.stringify(held)} instead of ${JSON.stringify(text)}.`)
}
