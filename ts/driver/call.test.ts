import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callTool } from './call.ts'
import { type Driver, openDriver } from './driver.ts'

const folder = mkdtempSync(join(tmpdir(), 'backlot-call-'))
let driver: Driver

beforeAll(async () => {
  driver = await openDriver({ configFile: join(folder, 'driver.json') })
})

afterAll(async () => {
  await driver[Symbol.asyncDispose]()
  await driver[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const call = (name: string, args?: unknown, signal = new AbortController().signal) =>
  callTool(driver, name, args, { client: 'test', signal })

test('a result starts with its summary and carries the facts', async () => {
  const result = await call('get_config')
  expect(result.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('capture_mode="som"') })
  expect(result.structuredContent).toMatchObject({ capture_mode: 'som', max_image_dimension: 0 })
  expect(result).not.toHaveProperty('isError')
})

test('a failure is a result with its text, its code and its data', async () => {
  expect(await call('get_window_state', {})).toEqual({
    content: [{ type: 'text', text: 'Missing required integer field: pid' }],
    structuredContent: { code: 'missing_argument', message: 'Missing required integer field: pid', argument: 'pid' },
    isError: true,
  })
})

test('an unknown tool is refused with the nearest name', async () => {
  const { structuredContent } = await call('get_confg')
  expect(structuredContent).toMatchObject({ code: 'unknown_tool', nearest: 'get_config' })
  expect(structuredContent?.message).toStartWith(
    'There is no tool "get_confg". Did you mean "get_config"? Tools: list_apps, ',
  )
})

test('a call ends when its caller cancels it, before it runs or while it does', async () => {
  const cancelled = { isError: true, structuredContent: { code: 'cancelled' } }
  expect(await call('get_config', {}, AbortSignal.abort())).toMatchObject(cancelled)
  const caller = new AbortController()
  const running = call('get_config', {}, caller.signal)
  caller.abort()
  expect(await running).toMatchObject(cancelled)
})

test('geometry is checked for its form', async () => {
  for (const geometry of ['320x200', '320x200+10+20', '320x200-1+0', '']) {
    expect(await call('set_config', { experimental_pip_geometry: geometry })).not.toHaveProperty('isError')
  }
  for (const geometry of ['320', 'axb', '0x5', '320x200+10', '320x200 ', '+1+1']) {
    expect((await call('set_config', { experimental_pip_geometry: geometry })).structuredContent).toMatchObject({
      code: 'invalid_argument',
      message: `Argument "experimental_pip_geometry" must be a string of the form WxH or WxH+X+Y, not "${geometry}".`,
    })
  }
})
