/** Applications that change themselves as they are told, in every toolkit. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BrowserOptions, python, startChromium, startFirefox } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import { Journal } from './journal.ts'
import { listedWindow } from './look.ts'
import type { McpClient } from './mcp-client.ts'
import { until } from './until.ts'

const fixtures = join(import.meta.dir, 'fixtures')

/** What an application can be told to do to itself. */
export type Order =
  | readonly ['add' | 'remove' | 'say' | 'fill', string]
  | readonly ['rename', string, string]
  | readonly ['check', boolean]
  | readonly ['level' | 'scroll', number]
  | readonly ['enable', string, boolean]
  /** Changes without a pause, or no longer; not in browsers. */
  | readonly ['flood', boolean]
  /** Adds a button "Ask" which opens a modal dialog "Question"; in GTK 3 and Qt. */
  | readonly ['asking']

/** A running application that does as it is told. */
export interface Changing extends AsyncDisposable {
  readonly pid: number
  readonly window_id: number
  readonly journal: Journal
  /** Tells it what to do and settles when it has done it. */
  tell(...order: Order): Promise<void>
}

/** The toolkits of applications that do as they are told. */
export const toolkits = ['gtk3', 'gtk4', 'qt5', 'qt6', 'chromium', 'firefox'] as const

export type Toolkit = (typeof toolkits)[number]

/** Starts such an application with `count` buttons `Item 0` and so on; `content` may change the text of a page. */
export const startChanging = (
  on: TestDesktop,
  client: McpClient,
  toolkit: Toolkit,
  count = 5,
  content: (html: string) => string = (html) => html,
): Promise<Changing> => {
  if (toolkit === 'chromium') return inBrowser(on, client, startChromium, count, content)
  if (toolkit === 'firefox') return inBrowser(on, client, startFirefox, count, content)
  return inToolkit(on, client, toolkit, count)
}

const inToolkit = async (on: TestDesktop, client: McpClient, toolkit: string, count: number): Promise<Changing> => {
  const [orders, file] = [on.path(`${toolkit}.orders`), on.path(`${toolkit}.jsonl`)]
  await on.run(['mkfifo', orders])
  const journal = Journal.inFile(file)
  const command = [python, join(fixtures, 'changing.py'), toolkit, orders, file, `Changing ${toolkit}`, `${count}`]
  const child = on.start(command as [string, ...string[]], { QT_LINUX_ACCESSIBILITY_ALWAYS_ON: '1' })
  const ready = await journal.waitFor(`${toolkit} to be ready`, ({ type }) => type === 'ready')
  const { window_id } = await listedWindow(client, Number(ready.window_id))
  return {
    pid: Number(ready.pid),
    window_id,
    journal,
    tell: teller(journal, (line) => writeFileSync(orders, `${line}\n`)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const inBrowser = async (
  on: TestDesktop,
  client: McpClient,
  start: typeof startChromium,
  count: number,
  change: (html: string) => string,
): Promise<Changing> => {
  const pages = new Set<Bun.ServerWebSocket<unknown>>()
  const orders = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, serving) => (serving.upgrade(request) ? undefined : new Response(null, { status: 404 })),
    websocket: {
      open: (page) => void pages.add(page),
      message: () => undefined,
    },
  })
  const page = await Bun.file(join(fixtures, 'changing.html')).text()
  const content: NonNullable<BrowserOptions['content']> = () =>
    change(page.replace('ORDERS', `ws://127.0.0.1:${orders.port}/`).replace('ITEMS', String(count)))
  const browser = await start(on, { content })
  interface Listed {
    readonly windows: readonly { readonly window_id: number; readonly pid: number; readonly title: string }[]
  }
  const window = await until('the window of the page', async () =>
    (await client.ask<Listed>('list_windows')).windows.find(({ title }) => title.startsWith('Backlot changes')),
  )
  return {
    pid: window.pid,
    window_id: window.window_id,
    journal: browser.journal,
    tell: teller(browser.journal, (line) => {
      for (const each of pages) each.send(line)
    }),
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]()
      await orders.stop(true)
    },
  }
}

const teller = (journal: Journal, send: (line: string) => void): Changing['tell'] => {
  let told = 0
  return async (...order) => {
    told += 1
    const number = told
    send(JSON.stringify(order))
    await journal.waitFor(`order ${number} ${JSON.stringify(order)}`, (entry) => entry.number === number)
  }
}
