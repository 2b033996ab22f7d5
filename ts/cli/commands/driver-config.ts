/** `backlot-driver config`: the stored configuration, through the tools that agents use. */
import { Failure } from '@backlot/contract/failure'
import {
  anonymous,
  callTool,
  changeSettings,
  configSchema,
  nearest,
  openDriver,
  type ToolResult,
} from '@backlot/driver'
import type { Command } from '../command.ts'
import { print, printJson } from '../terminal/output.ts'

const keys = Object.keys(configSchema.properties)

export const command: Command = {
  summary: 'Show or change the stored configuration.',
  usage: `backlot-driver config show
backlot-driver config get KEY
backlot-driver config set KEY VALUE
backlot-driver config reset [KEY]

Keys: ${keys.join(', ')}.
\`show\`, \`set\` and \`reset\` print the configuration as JSON, \`get\` one value.`,
  async run(args) {
    const [verb = 'show', key, value] = args
    const form = Object.hasOwn(verbs, verb) ? verbs[verb as keyof typeof verbs] : undefined
    if (form === undefined || args.length > form.most || args.length < form.least) {
      throw new Failure('usage', 'Call it as `backlot-driver config show|get KEY|set KEY VALUE|reset [KEY]`.')
    }
    if (key !== undefined && !keys.includes(key)) throw unknownKey(key)
    await form.run(key ?? '', value ?? '')
    return 0
  },
}

const unknownKey = (key: string): Failure => {
  const near = nearest(key, keys)
  return new Failure(
    'usage',
    `"${key}" is no configuration key.${near === undefined ? '' : ` Did you mean "${near}"?`} Keys: ${keys.join(', ')}.`,
  )
}

/** Calls a tool in this process: every process reads the same file. */
const call = async (name: string, args: Record<string, unknown>): Promise<Readonly<Record<string, unknown>>> => {
  await using driver = await openDriver()
  const result = await callTool(driver, name, args, { client: anonymous, signal: new AbortController().signal })
  if (result.isError === true) throw failureOf(result)
  return result.structuredContent ?? {}
}

const failureOf = ({ structuredContent }: ToolResult): Failure => {
  const { code, message, ...data } = structuredContent ?? {}
  return Failure.from(Object.assign(new Error(String(message)), { code, data }))
}

const show = async (): Promise<void> => printJson(await call('get_config', {}))

const set = async (key: string, value: unknown): Promise<void> => {
  await using driver = await openDriver()
  await changeSettings(driver, { [key]: value })
  return show()
}

/** A value as the shell gives it: JSON where it is JSON and the key is no string, else the text itself. */
const valueFrom = (key: string, text: string): unknown => {
  const schema = configSchema.properties[key as keyof typeof configSchema.properties]
  if (schema.type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const verbs = {
  show: { least: 0, most: 1, run: show },
  get: {
    least: 2,
    most: 2,
    run: async (key: string) => {
      const value = (await call('get_config', {}))[key]
      await print(typeof value === 'string' ? value : JSON.stringify(value))
    },
  },
  set: { least: 3, most: 3, run: (key: string, text: string) => set(key, valueFrom(key, text)) },
  reset: {
    least: 1,
    most: 2,
    run: async (key: string) => {
      if (key !== '') return set(key, configSchema.properties[key as keyof typeof configSchema.properties].default)
      await using driver = await openDriver()
      await driver.config.reset()
      return show()
    },
  },
} as const
