import { expect, test } from 'bun:test'
import { openBrowser } from '../support/browser.ts'
import { startComputer } from '../support/computer.ts'

test('the description lists every command, and a command can be tried in it', async () => {
  await using computer = await startComputer()
  await using browser = await openBrowser()
  await browser.goTo(`${computer.url}/docs`)
  const { commands } = (await (await fetch(`${computer.url}/commands`)).json()) as { commands: object }
  await browser.until(`document.querySelectorAll('details').length === ${Object.keys(commands).length}`)
  const command = (name: string) =>
    `[...document.querySelectorAll('details')].find((each) => each.querySelector('code').textContent === '${name}')`
  const fill = (name: string, field: string, text: string) =>
    browser.evaluate(`(() => {
      const label = [...${command(name)}.querySelectorAll('label')].find((each) => each.querySelector('code').textContent === '${field}')
      const input = label.querySelector('input')
      input.value = ${JSON.stringify(text)}
      input.dispatchEvent(new Event('input', { bubbles: true }))
    })()`)
  const send = (name: string) => browser.evaluate(`${command(name)}.querySelector('form').requestSubmit()`)
  await browser.evaluate(`${command('run_command')}.open = true`)
  await fill('run_command', 'command', 'echo tried')
  await fill('run_command', 'env', '{"A": "1"}')
  await send('run_command')
  await browser.until(`${command('run_command')}.querySelector('pre')?.textContent.includes('tried\\\\n')`)
  await browser.evaluate(`${command('screenshot')}.open = true`)
  await send('screenshot')
  await browser.until(`${command('screenshot')}.querySelector('img')?.naturalWidth === 1280`)
  expect(browser.faults).toEqual([])

  const document = (await (await fetch(`${computer.url}/openapi.json`)).json()) as {
    openapi: string
    paths: Record<
      string,
      Record<string, { requestBody?: { content: Record<string, { schema: { oneOf: object[] } }> } }>
    >
  }
  expect(document.openapi).toBe('3.1.0')
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/cmd', '/files', '/pty/{pid}/stream']))
  const messages = document.paths['/cmd']?.post?.requestBody?.content['application/json']?.schema.oneOf
  expect(messages).toContainEqual(expect.objectContaining({ title: 'left_click' }))
})
