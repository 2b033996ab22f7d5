/** How honest an agent's answers are: actions on common controls, each judged by the application's own journal. */
import type { Entry, Journal } from './journal.ts'
import { element, elementsOf, type ListedElement, middleOf, type Target, windowsOf } from './look.ts'
import type { McpClient } from './mcp-client.ts'
import { until } from './until.ts'

/** What came of one action. */
export interface Judged {
  readonly action: string
  /** The application's journal says that it arrived. */
  readonly delivered: boolean
  /** False for the button that does nothing. */
  readonly changes: boolean
  readonly effect: string
  /** Kinds of the evidence, and the failure's code. */
  readonly kinds: readonly string[]
}

/** An application with the common controls of the fixtures. */
export interface Subject {
  readonly target: Target
  readonly journal: Journal
}

type Arguments = Record<string, unknown>
type Make = (subject: Subject, client: McpClient) => Promise<Arguments>

interface Action {
  readonly name: string
  readonly tool: string
  readonly args: Make
  readonly arrived: RegExp
  /** False where it changes nothing: no answer may say that it did. */
  readonly changes?: false
}

const onElement =
  (label: string, more: Arguments = {}): Make =>
  async ({ target }, client) => ({ element_index: (await control(client, target, label)).element_index, ...more })

/** What is given to the combo box of fruit, which Qt names by nothing but what is chosen. */
const onCombo =
  (more: Arguments): Make =>
  async ({ target }, client) => {
    const elements = await elementsOf(client, target)
    const combo = elements.find(({ role, label }) => role === 'combo box' && ['Fruit', ''].includes(label))
    return { element_index: combo?.element_index, ...more }
  }

const onPixel =
  (label: string, more: Arguments = {}): Make =>
  async ({ target }, client) => ({ ...(await middleOf(client, target, label)), ...more })

const plain =
  (more: Arguments): Make =>
  async () =>
    more

const control = (client: McpClient, target: Target, label: string): Promise<ListedElement> =>
  element(client, target, label)

const operated = /^(?:clicked|toggled|changed|click|input|change|selected)$/
const pressed = /^(?:button-press|mousedown)$/
const keyed = /^(?:key-press|keydown)$/
const wheeled = /^(?:scroll|wheel)$/
const typed = /^(?:changed|input)$/

const drag: Make = async ({ target }, client) => {
  const { x, y } = await middleOf(client, target, 'Notes')
  return { from_x: x - 40, from_y: y - 8, to_x: x + 40, to_y: y - 6, duration_ms: 150, steps: 8 }
}

/** Every action of one round. */
const actions: readonly Action[] = [
  { name: 'check', tool: 'click', args: onElement('Check me'), arrived: operated },
  { name: 'uncheck', tool: 'click', args: onElement('Check me'), arrived: operated },
  { name: 'choose', tool: 'click', args: onElement('Coffee'), arrived: operated },
  { name: 'choose again', tool: 'click', args: onElement('Tea'), arrived: operated },
  { name: 'press', tool: 'click', args: onElement('Press me'), arrived: operated, changes: false },
  { name: 'check at point', tool: 'click', args: onPixel('Check me'), arrived: pressed },
  { name: 'choose at point', tool: 'click', args: onPixel('Coffee'), arrived: pressed },
  { name: 'press at point', tool: 'click', args: onPixel('Press me'), arrived: pressed, changes: false },
  { name: 'focus at point', tool: 'click', args: onPixel('Name'), arrived: pressed },
  { name: 'type', tool: 'type_text', args: onElement('Name', { text: 'alpha ' }), arrived: typed },
  { name: 'type more', tool: 'type_text', args: onElement('Notes', { text: 'beta gamma delta ' }), arrived: typed },
  { name: 'letter', tool: 'press_key', args: onElement('Name', { key: 'x' }), arrived: keyed },
  { name: 'delete a word', tool: 'hotkey', args: plain({ keys: ['ctrl', 'backspace'] }), arrived: typed },
  { name: 'set text', tool: 'set_value', args: onElement('Name', { value: 'epsilon' }), arrived: typed },
  { name: 'select all', tool: 'hotkey', args: plain({ keys: ['ctrl', 'a'] }), arrived: keyed },
  { name: 'delete', tool: 'press_key', args: plain({ key: 'delete' }), arrived: keyed },
  { name: 'focus back', tool: 'hotkey', args: plain({ keys: ['shift', 'tab'] }), arrived: keyed },
  { name: 'set off', tool: 'set_value', args: onElement('Check me', { value: 'off' }), arrived: operated },
  { name: 'set on', tool: 'set_value', args: onElement('Check me', { value: 'on' }), arrived: operated },
  { name: 'set option', tool: 'set_value', args: onCombo({ value: 'Pear' }), arrived: operated },
  { name: 'select a word', tool: 'double_click', args: onPixel('Notes'), arrived: pressed },
  { name: 'select by drag', tool: 'drag', args: drag, arrived: pressed },
  { name: 'page down', tool: 'scroll', args: onElement('Notes', { direction: 'up' }), arrived: keyed },
  {
    name: 'wheel',
    tool: 'scroll',
    args: onPixel('Notes', { direction: 'down', mode: 'wheel', amount: 2 }),
    arrived: wheeled,
  },
  { name: 'context menu', tool: 'right_click', args: onPixel('Notes'), arrived: pressed },
]

/** Runs a round of actions, each after the application has come to rest. */
export const judge = async (client: McpClient, subject: Subject): Promise<readonly Judged[]> => {
  const { target, journal } = subject
  const judged: Judged[] = []
  for (const { name, tool, args, arrived, changes = true } of actions) {
    const given = { ...target, ...(await args(subject, client)) }
    await client.ask('wait_for', { ...target, condition: 'still', still_ms: 150 })
    const mark = journal.mark()
    const { structured } = await client.call(tool, given)
    const isThere = () => journal.entries(mark).some(({ type }: Entry) => arrived.test(type))
    const delivered = await until('the event', isThere, 2_000).catch(() => false)
    const evidence = (structured.evidence ?? []) as readonly { readonly kind: string }[]
    const kinds = structured.code === undefined ? evidence.map(({ kind }) => kind) : [String(structured.code)]
    judged.push({ action: name, delivered, changes, effect: String(structured.effect), kinds })
  }
  await closeMenus(client, target)
  return judged
}

const closeMenus = async (client: McpClient, { pid, window_id }: Target): Promise<void> => {
  for (const popup of (await windowsOf(client, pid)).filter(({ kind }) => kind === 'popup')) {
    await client.call('press_key', { pid, window_id: popup.window_id, key: 'escape' })
  }
  await client.call('press_key', { pid, window_id, key: 'escape' })
}

/** A line for each action that was not delivered and confirmed, after one that counts and says what is left out. */
export const summaryOf = (toolkit: string, judged: readonly Judged[]): string => {
  const delivered = judged.filter((each) => each.delivered)
  const confirmed = delivered.filter(({ effect }) => effect === 'confirmed')
  const rest = judged.filter((each) => !confirmed.includes(each))
  return [
    `${toolkit}: ${judged.length} actions, ${delivered.length} delivered, ${confirmed.length} of them confirmed (plain clicks at places that do nothing are not in it)`,
    ...rest.map(
      ({ action, effect, kinds, delivered }) =>
        `  ${action}: ${delivered ? '' : 'not delivered, '}${effect} (${kinds.join(', ')})`,
    ),
  ].join('\n')
}
