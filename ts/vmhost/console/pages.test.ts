import { expect, test } from 'bun:test'
import { vmHost } from '@backlot/contract/vmhost'
import { openApi } from '../http/openapi.ts'
import { pages, refusedPage } from './pages.ts'

const app = pages(() => openApi(vmHost, '/svc', '1'))
const ask = (path: string, headers: Record<string, string> = {}) =>
  app.handle(new Request(`http://localhost${path}`, { headers }))

test('the page and all that it loads are there, and a browser that has them is told so', async () => {
  const page = await ask('/')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const loaded = [...(await page.text()).matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => path)
  expect(loaded).toEqual(['/console/style.css', '/console/main.js'])
  for (const path of loaded) {
    const file = await ask(String(path))
    expect([path, file.status, (await file.text()).length > 1_000]).toEqual([path, 200, true])
    const tag = file.headers.get('etag') ?? ''
    expect((await ask(String(path), { 'if-none-match': tag })).status).toBe(304)
    expect((await ask(String(path), { 'if-none-match': '"other"' })).status).toBe(200)
  }
})

test('no other file is given', async () => {
  for (const name of ['nothing.js', 'main.tsx', '..%2f..%2fguard.ts', 'constructor']) {
    expect([name, (await ask(`/console/${name}`)).status]).toEqual([name, 404])
  }
})

test('a browser that is not let in sees why, and a program does not', async () => {
  const visit = (path: string, accept: string, method = 'GET') =>
    refusedPage(new Request(`http://localhost${path}`, { method, headers: { accept } }))
  const page = await visit('/', 'text/html,*/*')
  expect([page?.status, page?.headers.get('content-security-policy')]).toEqual([401, expect.stringContaining('none')])
  expect(await page?.text()).toContain('backlot host link')
  expect(await visit('/', 'application/json')).toBeUndefined()
  expect(await visit('/', 'text/html', 'POST')).toBeUndefined()
  expect(await visit('/svc/vms', 'text/html')).toBeUndefined()
})

test('the operations are told one by one', async () => {
  const text = await (await ask('/docs')).text()
  for (const name of Object.keys(vmHost)) expect(text).toContain(`<details id="${name}">`)
})
