import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from '../support/browser.ts'
import { startComputer } from '../support/computer.ts'

/** Tries, from the page, every way in which one sends something to another origin; gives how each ended. */
const attempts = (origin: string, body: string) => `(async () => {
  const [origin, body] = ${JSON.stringify([origin, body])}
  const happens = (target, ...events) => new Promise((settle) => {
    for (const event of events) target.addEventListener(event, () => settle(event), { once: true })
  })
  const cmd = origin + '/cmd'
  const json = { 'Content-Type': 'application/json' }
  const ways = {
    'no-cors, text': () => fetch(cmd, { method: 'POST', mode: 'no-cors', body }),
    'no-cors, blob': () => fetch(cmd, { method: 'POST', mode: 'no-cors', body: new Blob([body]) }),
    'no-cors, no referrer': () => fetch(cmd, { method: 'POST', mode: 'no-cors', referrerPolicy: 'no-referrer', body }),
    'cors, JSON': () => fetch(cmd, { method: 'POST', headers: json, body }),
    'a terminal': () => fetch(origin + '/pty', { method: 'POST', mode: 'no-cors', body: '{"command": "touch ~/evil"}' }),
    'a file': () => fetch(origin + '/files?path=~/evil', { method: 'PUT', body: 'x' }),
    'reading a file': () => fetch(origin + '/files?path=/etc/hostname'),
    MCP: () => fetch(origin + '/mcp', { method: 'POST', headers: { ...json, Accept: 'application/json, text/event-stream' }, body }),
    beacon: async () => String(navigator.sendBeacon(cmd, body)),
    form: async () => {
      const frame = document.createElement('iframe')
      frame.name = 'answer'
      const form = document.createElement('form')
      Object.assign(form, { method: 'post', enctype: 'text/plain', action: cmd, target: 'answer' })
      const field = document.createElement('input')
      Object.assign(field, { name: body.slice(0, -1) + ',"x":"', value: '"}' })
      form.append(field)
      document.body.append(frame, form)
      const end = happens(frame, 'load')
      form.submit()
      return end
    },
    WebSocket: async () => {
      const socket = new WebSocket(origin.replace('http', 'ws') + '/ws')
      socket.onopen = () => socket.send(body)
      return happens(socket, 'open', 'error')
    },
    'the screen': () => happens(new WebSocket(origin.replace('http', 'ws') + '/view/screen', 'binary'), 'open', 'error'),
    'a frame of the view': async () => {
      const frame = document.createElement('iframe')
      frame.src = origin + '/view'
      document.body.append(frame)
      await happens(frame, 'load')
      try {
        return frame.contentDocument === null ? 'not ours' : 'ours'
      } catch {
        return 'not ours'
      }
    },
  }
  const ends = {}
  for (const [name, attempt] of Object.entries(ways)) {
    try {
      const end = await attempt()
      ends[name] = end instanceof Response ? 'answered' : String(end)
    } catch (error) {
      ends[name] = 'refused'
    }
  }
  return ends
})()`

test('a page of another origin in a real browser does nothing to a computer', async () => {
  await using computer = await startComputer()
  await using foreign = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('<!doctype html><body>', { headers: { 'Content-Type': 'text/html' } }),
  })
  // Stands for a name whose owner has pointed it at this machine: DNS rebinding.
  await using browser = await openBrowser(['--host-resolver-rules=MAP rebound.test 127.0.0.1'])
  const evil = join(computer.home, 'evil')
  const message = { command: 'run_command', params: { command: `touch ${evil}` } }
  const { port } = new URL(computer.url)
  for (const name of ['127.0.0.1', 'localhost', 'rebound.test']) {
    await browser.goTo(foreign.url.href)
    const ends = await browser.evaluate<Record<string, string>>(
      attempts(`http://${name}:${port}`, JSON.stringify(message)),
    )
    for (const way of ['WebSocket', 'the screen']) expect([name, way, ends[way]]).toEqual([name, way, 'error'])
    for (const way of ['cors, JSON', 'a file', 'reading a file', 'MCP', 'no-cors, text', 'a terminal']) {
      expect([name, way, ends[way]]).toEqual([name, way, 'refused'])
    }
    expect([name, ends['a frame of the view']]).toEqual([name, 'not ours'])
  }
  // A page whose name has become that of this machine is of the server's origin to the browser, and not to the server.
  await browser.goTo(`http://rebound.test:${port}/view`)
  expect(await browser.evaluate('document.body.innerText')).toContain('foreign_host')
  // The same from a program does something: all of it reached the server, and was kept from acting by it.
  expect(existsSync(evil)).toBe(false)
  await computer.ask(message.command, message.params)
  expect(existsSync(evil)).toBe(true)
})
