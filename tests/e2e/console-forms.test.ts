import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runBacklot } from '../support/backlot.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { type ConsolePage, consolePage } from '../support/console.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { booted, call, create, get, giveImage, image, run } from '../support/vms.ts'

const minutes = 60_000

let host: VmHost
let browser: Browser
let page: ConsolePage

beforeAll(async () => {
  host = await startVmHost()
  await giveImage(host)
  await create(host, 'first', { image })
  await create(host, 'other', { memory: '64MB' })
  browser = await openBrowser()
  page = consolePage(browser)
  await browser.goTo(`${host.url}/`)
})

afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await host[Symbol.asyncDispose]()
})

const post = (path: string, body: unknown = {}) =>
  fetch(`${host.url}/svc${path}`, { method: 'POST', body: JSON.stringify(body) })

test(
  'shows the very VM that a command links to, in a folder too, and one by its name alone',
  async () => {
    const folder = join(host.home, 'a side, ü')
    // Its name is free in both places; the one of a location is no answer for the other.
    await create(host, 'other', { memory: '96MB', storage: folder })
    const linked = async (...args: string[]) => {
      const { stdout } = await runBacklot(['vm', 'console', ...args], { BACKLOT_HOST_URL: host.url })
      await browser.goTo('about:blank')
      await browser.goTo((JSON.parse(stdout) as { url: string }).url)
      await browser.until(`document.querySelector('article h2') !== null`)
      return page.facts()
    }
    expect(await linked('first')).toMatchObject({ name: 'first', Location: 'home' })
    expect(await linked('other')).toMatchObject({ name: 'other', Location: 'home', Memory: '64 MB' })
    const aside = await linked('other', '--storage', folder)
    expect(aside).toMatchObject({ name: 'other', Location: folder, Memory: '96 MB' })
    await browser.evaluate(`location.hash = '#first'`)
    await browser.until(`document.querySelector('article h2')?.innerText === 'first'`)
    expect(await browser.evaluate<string>('location.hash')).toBe('#home/first')
    await browser.evaluate(`location.hash = '#home/nobody'`)
    await page.shows('There is no such VM here any more.')
    await fetch(`${host.url}/svc/vms/other?storage=${encodeURIComponent(folder)}`, { method: 'DELETE' })
  },
  minutes,
)

test(
  'shows the images, their sizes, and the VMs that were made of each',
  async () => {
    await browser.evaluate(`location.hash = '#images'`)
    await page.shows('linux-minimal:latest')
    const row = () =>
      browser.evaluate<string[]>(`[...document.querySelectorAll('.images tbody tr > *')].map((each) => each.innerText)`)
    expect(await row()).toEqual([
      'linux-minimal:latest',
      'built here',
      'linux',
      expect.stringMatching(/^[\d.]+ MB$/),
      'first',
    ])
    await page.keep('images')
    const disk = join(host.home, 'empty.raw')
    await writeFile(disk, new Uint8Array(4096))
    await post('/images/import', { source: disk, name: 'brought:v1' })
    await page.shows('brought:v1')
    expect(await row()).toContain(disk)
    await page.shows('import')
    await browser.evaluate(`document.querySelector('.images td a').click()`)
    await browser.until(`document.querySelector('article h2')?.innerText === 'first'`)
  },
  minutes,
)

test(
  'changes a VM, and says what a running one has to be stopped for',
  async () => {
    await browser.evaluate(`location.hash = '#home/other'`)
    await page.click('Change…')
    await browser.until(`document.activeElement?.name === 'cpu'`)
    await page.fill({ cpu: '3', memory: '96MB', diskSize: '2GB', display: '1280x720' })
    await page.keep('change')
    await browser.press('Enter')
    await page.asks(false)
    expect(await get(host, 'other')).toMatchObject({
      ...{ cpuCount: 3, memorySize: 96 * 2 ** 20, display: '1280x720' },
      diskSize: { total: 2 * 2 ** 30 },
    })

    await page.click('Change…')
    await page.asks(true)
    await page.fill({ diskSize: '1GB' })
    await page.click('Change')
    await page.refuses('cannot shrink')
    await browser.press('Escape')

    await run(host, 'other')
    await page.click('Change…')
    await page.asks(true)
    await page.fill({ cpu: '2', diskSize: '3GB' })
    await page.click('Change')
    await page.refuses('Stop it first to change cpu')
    await page.keep('change-running')
    expect(await get(host, 'other')).toMatchObject({ cpuCount: 3, diskSize: { total: 2 * 2 ** 30 } })
    await page.fill({ cpu: '3' })
    await page.click('Change')
    await page.asks(false)
    expect((await get(host, 'other')).diskSize.total).toBe(3 * 2 ** 30)
    const { pid } = await get(host, 'other')
    process.kill(pid as number, 'SIGKILL')
    await until('its end to be seen', async () => (await get(host, 'other')).status === 'stopped')

    const more = join(host.home, 'more')
    expect((await post('/config/locations', { name: 'more', path: more })).status).toBe(200)
    await browser.goTo('about:blank')
    await browser.goTo(`${host.url}/#home/other`)
    await page.click('Change…')
    await page.asks(true)
    await page.fill({ storage: 'more' })
    await page.click('Change')
    await browser.until(`location.hash === '#more/other'`)
    await browser.until(`document.querySelector('article h2')?.innerText === 'other'`)
    expect(await page.facts()).toMatchObject({ Location: 'more', Disk: expect.stringContaining('3 GB') })
  },
  2 * minutes,
)

test('a form that is asked right after another was closed stays', async () => {
  await browser.evaluate(`location.hash = '#home/first'`)
  await browser.until(`document.querySelector('article h2')?.innerText === 'first'`)
  await page.click('Change…')
  await page.asks(true)
  // All in one turn of the page's event loop: what the browser says of the first form comes after that.
  const isThere = await browser.evaluate<boolean>(`(async () => {
    const press = (text) => [...document.querySelectorAll('button')].find((each) => each.innerText === text).click()
    const rendered = async (isAsked) => {
      for (let turn = 0; turn < 1_000; turn++) {
        if ((document.querySelector('dialog') !== null) === isAsked) return
        await undefined
      }
      throw new Error(isAsked ? 'no form was asked' : 'the form stayed')
    }
    const first = document.querySelector('dialog')
    const closed = new Promise((settle) => first.addEventListener('close', settle))
    press('Cancel')
    await rendered(false)
    press('Change…')
    await rendered(true)
    const late = new Promise((_, fail) => setTimeout(() => fail(new Error('the first form told of no end')), 20_000))
    await Promise.race([closed, late])
    await new Promise((settle) => setTimeout(settle))
    return document.querySelector('dialog') !== null
  })()`)
  expect(isThere).toBe(true)
  await browser.press('Escape')
  await page.asks(false)
})

test('shows the last that it asked for, though an answer before that comes later', async () => {
  await browser.evaluate(`location.hash = '#home/first'`)
  await browser.until(`document.querySelector('article h2')?.innerText === 'first'`)
  await page.shows('Change…')
  // The first question about the VM gets its answer when the second one has had its own.
  await browser.evaluate(`(() => {
    const ask = window.fetch
    window.questions = []
    window.fetch = async (url, init) => {
      if (!String(url).includes('/vms/first')) return ask(url, init)
      const answer = await ask(url, init)
      const text = await answer.text()
      const { promise, resolve } = Promise.withResolvers()
      window.questions.push({ text, answer: () => resolve(new Response(text, answer)) })
      return promise
    }
    window.askDirectly = () => { window.fetch = ask }
  })()`)
  for (const cpu of [4, 5]) {
    expect((await call(host, 'PATCH', '/svc/vms/first', { cpu }))[0]).toBe(200)
    await browser.until(`window.questions.some(({ text }) => JSON.parse(text).cpuCount === ${cpu})`)
  }
  // The latest first.
  await browser.evaluate(`window.askDirectly()`)
  await browser.evaluate(`(async () => {
    for (const { answer } of window.questions.reverse()) {
      answer()
      await new Promise((settle) => setTimeout(settle))
    }
  })()`)
  expect(await page.facts()).toMatchObject({ Processors: '5' })
  // Five take three times as long to boot where they are emulated.
  expect((await call(host, 'PATCH', '/svc/vms/first', { cpu: 1 }))[0]).toBe(200)
})

test(
  'starts a VM with folders of the host, which the guest sees',
  async () => {
    const [given, lent] = [join(host.home, 'given'), join(host.home, 'lent')]
    for (const folder of [given, lent]) await mkdir(folder)
    await writeFile(join(given, 'note'), 'seen')
    await browser.evaluate(`location.hash = '#home/first'`)
    await page.click('Start with…')
    await browser.until(`document.activeElement?.name === 'path-0'`)
    await page.click('Add a folder')
    await page.click('Add a folder')
    await browser.until(`document.querySelector('[name=path-2]')`)
    await page.fill({ 'path-0': join(host.home, 'nowhere'), 'path-1': lent, 'tag-1': 'borrowed', 'path-2': given })
    await browser.evaluate(`document.querySelector('[name=readOnly-1]').click()`)
    await browser.evaluate(`document.querySelector('[name=display]').click()`)
    await page.keep('start')
    await browser.press('Enter')
    await page.refuses('nowhere')
    await browser.evaluate(`document.querySelector('[aria-label="Remove folder 1"]').click()`)
    await browser.until(`document.querySelector('[name=path-0]') === null`)
    await page.click('Start')
    await page.asks(false)
    await page.shows('It runs without a display.')
    const vm = await get(host, 'first')
    expect(vm.sharedDirectories).toEqual([
      { hostPath: lent, tag: 'borrowed', readOnly: true },
      { hostPath: given, tag: 'given', readOnly: false },
    ])
    await booted(vm)
    const command = 'cat /mnt/shared/given/note; touch /mnt/shared/given/x; touch /mnt/shared/borrowed/x'
    const answer = await until('the guest to obey', async () => {
      const [status, said] = await call(host, 'POST', '/svc/vms/first/exec', { command })
      return status === 200 && said
    })
    expect(answer).toMatchObject({ stdout: 'seen', stderr: expect.stringContaining('Read-only') })
    expect([await Bun.file(join(given, 'x')).exists(), await Bun.file(join(lent, 'x')).exists()]).toEqual([true, false])
    expect((await post('/vms/first/stop', { graceSeconds: 0 })).status).toBe(200)
  },
  3 * minutes,
)

test('the forms fit on a small screen, in the dark', async () => {
  await browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] })
  const small = { width: 420, height: 800, deviceScaleFactor: 1, mobile: true }
  await browser.send('Emulation.setDeviceMetricsOverride', small)
  for (const [asked, name] of [
    ['Start with…', 'small-start'],
    ['Change…', 'small-change'],
  ] as const) {
    await browser.evaluate(`location.hash = '#home/first'`)
    await page.click(asked)
    await page.asks(true)
    expect(await browser.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const isCut = `[...document.querySelectorAll('dialog, dialog *')].some((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0 && each.tagName !== 'INPUT' && getComputedStyle(each).display !== 'inline')`
    expect(await browser.evaluate<boolean>(isCut)).toBe(false)
    await page.keep(name)
    await browser.press('Escape')
    await page.asks(false)
  }
})
