import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { element, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { pixelsOf } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let app: Application
let target: Target

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

interface Result {
  readonly content: readonly { type: string; text?: string; data?: string; mimeType?: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: boolean
}

/** The whole result of a call, over MCP and as the shell form prints it. */
const results = async (name: string, args: Record<string, unknown>): Promise<readonly Result[]> => {
  const mcp = (await client.client.callTool({ name, arguments: args })) as unknown as Result
  const { stdout } = await on().backlot([name, JSON.stringify(args), '--raw'])
  return [mcp, JSON.parse(stdout) as Result]
}

test(
  'a result is a summary, then a picture where there is one, and structured content',
  proving(['driver.result.text-first', 'driver.result.image-blocks', 'driver.result.structured'], async () => {
    for (const { content, structuredContent, isError } of await results('get_window_state', { ...target })) {
      const [summary, picture] = content
      expect(content.map(({ type }) => type)).toEqual(['text', 'image'])
      expect(summary?.text).toStartWith(`window_id=${app.windowId} pid=${app.pid} `)
      expect(picture?.mimeType).toBe('image/png')
      const { width, height } = await pixelsOf(Buffer.from(picture?.data ?? '', 'base64'))
      expect(structuredContent).toMatchObject({ ...target, screenshot_width: width, screenshot_height: height })
      expect(isError).toBeUndefined()
    }
    for (const { content, structuredContent } of await results('get_screen_size', {})) {
      expect(content).toEqual([{ type: 'text', text: '✅ Main display: 1280x800 points @ 1x' }])
      expect(structuredContent).toEqual({ width: 1280, height: 800, scale_factor: 1 })
    }
  }),
)

test(
  'a failed call gives its reason in place of a summary',
  proving(['driver.result.failure-text', 'driver.errors.reason'], async () => {
    for (const { content, structuredContent, isError } of await results('kill_app', { pid: 4_194_305 })) {
      expect(isError).toBe(true)
      expect(content).toEqual([{ type: 'text', text: expect.any(String) }])
      expect(content[0]?.text).toBe(String(structuredContent?.message))
      expect(content[0]?.text).toContain('4194305')
    }
    const { status, stdout, stderr } = await on().backlot(['kill_app', '{"pid":4194305}'])
    expect([status, stderr.trim()]).toEqual([1, `error: ${JSON.parse(stdout).message}`])
  }),
)

test(
  'what a look leaves behind lasts as long as the daemon, or as the session without one',
  proving(['driver.state.daemon-lifetime'], async () => {
    const press = async (element_index: number) => {
      const { stdout } = await on().backlot(['click', JSON.stringify({ ...target, element_index })])
      return JSON.parse(stdout).code ?? 'pressed'
    }
    const mark = app.journal.mark()
    const { element_index } = await element(client, target, 'Press me')
    await client[Symbol.asyncDispose]()
    expect(await press(element_index)).toBe('pressed')
    await app.journal.waitFor('the button', ({ type }) => type === 'clicked', mark)
    await on().run(driverCommand('stop'))
    expect(await press(element_index)).toBe('stale_element')

    const session = await connect(on(), '--direct')
    const own = { ...target, element_index: (await element(session, target, 'Press me')).element_index }
    await session.ask('click', own)
    await session[Symbol.asyncDispose]()
    await using next = await connect(on(), '--direct')
    expect((await next.call('click', own)).structured.code).toBe('stale_element')
  }),
)
