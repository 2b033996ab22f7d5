import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runBacklot } from '../support/backlot.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { type ConsolePage, consolePage } from '../support/console.ts'
import { giveGuest, runningGuest } from '../support/prepared-guest.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { booted, get, run } from '../support/vms.ts'

const minutes = 60_000

let host: VmHost
let browser: Browser
let page: ConsolePage

beforeAll(async () => {
  host = await startVmHost()
  await giveGuest(host)
  browser = await openBrowser()
  page = consolePage(browser)
})

afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await host[Symbol.asyncDispose]()
})

interface Vm {
  readonly name: string
  readonly status: string
  readonly vncUrl: string | null
}

const vms = async (): Promise<Vm[]> => (await (await fetch(`${host.url}/svc/vms`)).json()) as Vm[]
const post = (path: string, body: unknown = {}) =>
  fetch(`${host.url}/svc${path}`, { method: 'POST', body: JSON.stringify(body) })
const statusOf = async (name: string) => (await vms()).find((vm) => vm.name === name)?.status

/** How many colours the screen shows: one as long as nothing was drawn. */
const colours = `(() => {
  const canvas = document.querySelector('.screen canvas')
  if (canvas === null || canvas.width === 0) return 0
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  return new Set(new Uint32Array(data.buffer)).size
})()`

/** How many pixels of the screen are not black. */
const lit = `(() => {
  const canvas = document.querySelector('.screen canvas')
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  return new Uint32Array(data.buffer).filter((pixel) => (pixel & 0xffffff) !== 0).length
})()`

/** Keeps the VM that is shown as a snapshot, which is shown so deep in the tree then. */
const keepAs = async (name: string, depth: number): Promise<void> => {
  await page.click('Snapshot…')
  await browser.until(`document.activeElement?.name === 'snapshot'`)
  await browser.type(name)
  await browser.press('Enter')
  await page.asks(false)
  await browser.until(`document.querySelector('.snapshots li[data-depth="${depth}"] strong')?.innerText === '${name}'`)
}

/** Ends and deletes the fork that is shown, and shows its parent again. */
const deleteFork = async (): Promise<void> => {
  expect([await statusOf('first'), await statusOf('first-1')]).toEqual(['suspended', 'running'])
  await page.click('Stop')
  await page.click('Delete…')
  await page.click('Delete')
  await page.shows('Choose a VM')
  await browser.evaluate(`location.hash = '#home/first'`)
}

describe('the console', () => {
  test(
    'makes a VM by keyboard, starts it and shows its screen',
    async () => {
      await browser.goTo(`${host.url}/`)
      await page.shows('There is no VM on this host yet.')
      await page.keep('empty')
      await browser.until(`document.querySelector('main button')`)
      await browser.evaluate(`document.querySelector('main button').focus()`)
      await browser.press('Enter')
      await browser.until(`document.activeElement?.name === 'name'`)
      await browser.type('first')
      await page.keep('form')
      await browser.evaluate(`Object.assign(document.activeElement.form.elements.memory, { value: '256MB' })`)
      await browser.evaluate(`Object.assign(document.activeElement.form.elements.cpu, { value: '1' })`)
      await browser.press('Enter')
      await browser.until(`document.querySelector('article h2')?.innerText === 'first'`)
      expect(await statusOf('first')).toBe('stopped')
      await page.click('Start')
      await browser.until(`document.querySelector('.screen')?.dataset.state === 'shown'`)
      await browser.until(`${colours} > 1`)
      expect(await statusOf('first')).toBe('running')
    },
    2 * minutes,
  )

  test(
    'gives the keyboard to the VM, and takes it back',
    async () => {
      await booted(await get(host, 'first'))
      await page.click('Use keyboard')
      const type = async (line: string) => {
        for (const key of [...line, 'Enter']) await browser.press(key)
      }
      /** Waits until so many more pixels are lit: letters that the guest wrote. */
      const written = async (pixels: number, act: () => Promise<void>) => {
        const before = await browser.evaluate<number>(lit)
        await act()
        await browser.until(`${lit} > ${before + pixels}`)
      }
      // The first key wakes the shell on the screen.
      await written(500, () => type(''))
      await written(2_000, () => type('ls -l /'))
      await page.keep('screen')
      const ctrlAlt = 3
      await browser.press('g', ctrlAlt)
      expect(await browser.evaluate<string>('document.activeElement.innerText')).toBe('Use keyboard')
      await page.click('Use keyboard')
      await type('poweroff')
      await page.shows('The screen appears here while the VM runs.')
      expect(await statusOf('first')).toBe('stopped')
    },
    3 * minutes,
  )

  test(
    'stops a VM, suspended and resumed in between',
    async () => {
      // A guest that is up: what is forked of one that boots boots too.
      await browser.evaluate(`location.hash = '#/'`)
      await page.shows('Choose a VM')
      expect((await fetch(`${host.url}/svc/vms/first`, { method: 'DELETE' })).status).toBe(200)
      await runningGuest(host, 'first', { noDisplay: false })
      await browser.evaluate(`location.hash = '#home/first'`)
      await browser.until(`document.querySelector('.screen')?.dataset.state === 'shown'`)
      await page.click('Suspend')
      await page.shows('The screen appears here while the VM runs.')
      await browser.until(`document.querySelector('article .badge')?.className === 'badge suspended'`)
      expect(await statusOf('first')).toBe('suspended')
      await keepAs('asleep', 0)
      await page.click('Resume')
      await browser.until(`document.querySelector('.screen')?.dataset.state === 'shown'`)
      expect(await statusOf('first')).toBe('running')
      await keepAs('awake', 1)
      await page.click('Stop')
      await page.shows('The screen appears here while the VM runs.')
      expect(await statusOf('first')).toBe('stopped')
    },
    2 * minutes,
  )

  test(
    'makes a VM again what it was, and forks it',
    async () => {
      await page.keep('snapshots')
      await browser.evaluate(`document.querySelector('[aria-label="Remove awake"]').click()`)
      await browser.until(`document.querySelectorAll('.snapshots li').length === 1`)
      await browser.until(`document.querySelector('[aria-label="Restore asleep"]').disabled === false`)
      await browser.evaluate(`document.querySelector('[aria-label="Restore asleep"]').click()`)
      await browser.until(`document.querySelector('article .badge')?.className === 'badge suspended'`)
      await page.shows('No forks of it are kept ready.')
      await browser.evaluate(`document.querySelector('.pool input').value = '1'`)
      await page.click('Keep ready')
      await page.shows('1 of 1 forks are ready.')
      await page.keep('pool')
      // Somebody else changes it.
      expect((await post('/vms/first/pool', { size: 2 })).status).toBe(200)
      await page.shows('of 2 forks are ready')
      await browser.evaluate(`document.querySelector('.pool input').value = '0'`)
      await page.click('Keep ready')
      await page.shows('No forks of it are kept ready.')
      await page.click('Fork…')
      await browser.until(`document.activeElement?.name === 'count'`)
      await browser.press('Enter')
      await browser.until(`document.querySelector('article h2')?.innerText === 'first-1'`)
      await deleteFork()
      await browser.until(`document.querySelector('[aria-label="Fork asleep"]')?.disabled === false`)
      await browser.evaluate(`document.querySelector('[aria-label="Fork asleep"]').click()`)
      await browser.until(`document.querySelector('article h2')?.innerText === 'first-1'`)
      await deleteFork()
      await page.click('Resume')
      await browser.until(`document.querySelector('article .badge')?.className === 'badge running'`)
      await page.click('Stop')
      await browser.until(`document.querySelector('article .badge')?.className === 'badge stopped'`)
    },
    3 * minutes,
  )

  test(
    'clones and deletes, and asks before it does',
    async () => {
      await page.click('Clone…')
      await browser.until(`document.activeElement?.name === 'newName'`)
      await browser.press('Enter')
      await browser.until(`document.querySelector('article h2')?.innerText === 'first-copy'`)
      expect((await vms()).map(({ name }) => name).sort()).toEqual(['first', 'first-copy'])
      await page.click('Delete…')
      await page.shows('This cannot be undone.')
      await browser.press('Escape')
      await browser.until(`document.querySelector('dialog') === null`)
      expect((await vms()).length).toBe(2)
      await page.click('Delete…')
      await page.click('Delete')
      await page.shows('Choose a VM')
      expect((await vms()).map(({ name }) => name)).toEqual(['first'])
    },
    2 * minutes,
  )

  test(
    'shows what somebody else does, failures and the log',
    async () => {
      const made = await post('/vms', {
        name: 'other',
        os: 'linux',
        cpu: 1,
        memory: '64MB',
        diskSize: '1GB',
        display: '800x600',
      })
      expect(made.status).toBe(200)
      await browser.until(`document.querySelector('nav').innerText.includes('other')`)
      await browser.evaluate(`document.querySelector('header .primary').click()`)
      await browser.until(`document.activeElement?.name === 'name'`)
      await browser.type('other')
      await browser.press('Enter')
      await browser.until(`document.querySelector('dialog .fault')?.innerText.includes('other')`)
      await page.keep('fault')
      await browser.press('Escape')
      await browser.evaluate(`location.hash = '#logs'`)
      await browser.until(`document.querySelectorAll('.log li').length > 0`)
      await page.keep('log')
    },
    minutes,
  )

  test('had nothing to complain of, and asks no other server for anything', async () => {
    // The refused creation of the test before is one that the browser notes.
    expect(browser.faults.filter((fault) => !/status of 400/.test(fault))).toEqual([])
    const loaded = await browser.evaluate<string[]>(`performance.getEntriesByType('resource').map(({ name }) => name)`)
    expect(loaded.filter((name) => !name.startsWith(host.url) && !name.startsWith('data:'))).toEqual([])
    expect(loaded.length).toBeGreaterThan(3)
  })

  test(
    'is not shown in a page of somebody else',
    async () => {
      await using other = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: () => new Response(`<iframe src="${host.url}/"></iframe>`, { headers: { 'Content-Type': 'text/html' } }),
      })
      const before = browser.faults.length
      await browser.goTo(`${other.url}`)
      const faults = await until('the browser to refuse it', () => browser.faults.slice(before).join() || undefined)
      expect(faults).toContain('frame-ancestors')
      await browser.goTo(`${host.url}/`)
    },
    minutes,
  )

  test('works in the dark and on a small screen', async () => {
    await browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] })
    await browser.send('Emulation.setDeviceMetricsOverride', {
      width: 420,
      height: 800,
      deviceScaleFactor: 1,
      mobile: true,
    })
    await browser.evaluate(`location.hash = '#/'`)
    await page.shows('Choose a VM')
    const ground = await browser.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    expect(ground).toBe('rgb(22, 23, 26)')
    expect(await browser.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.keep('small')
    await browser.send('Emulation.clearDeviceMetricsOverride')
    await browser.send('Emulation.setEmulatedMedia', { features: [] })
  })
})

describe('a screen', () => {
  const ask = async (path: string) => {
    const answer = await fetch(`${host.url}/svc${path}`)
    return [answer.status, ((await answer.json()) as { code: string }).code]
  }

  test(
    'is refused where there is none, and to what is no WebSocket',
    async () => {
      expect(await ask('/vms/nobody/vnc')).toEqual([404, 'vm_not_found'])
      expect(await ask('/vms/first/vnc')).toEqual([409, 'no_screen'])
      expect((await post('/vms/first/run')).status).toBe(202)
      const running = await until('the VM to run', async () => (await vms()).find((vm) => vm.status === 'running'))
      expect(running.vncUrl).toMatch(/^vnc:\/\/:[A-Za-z0-9-]+@127\.0\.0\.1:\d+$/)
      expect(await ask('/vms/first/vnc')).toEqual([426, 'not_a_socket'])
      expect((await post('/vms/first/stop', { graceSeconds: 0 })).status).toBe(200)
    },
    2 * minutes,
  )
})

describe('a service with a token', () => {
  test(
    'lets a browser in by the link that it printed, once',
    async () => {
      const file = join(host.home, 'token')
      await writeFile(file, 'open-sesame')
      await using other = await startVmHost(['--port', '0', '--token-file', file])
      const link = await until('the link', () => /http:\S+\?link=\S+/.exec(other.log())?.[0])
      await browser.goTo(`${other.url}/`)
      await page.shows('This console opens with a link')
      await browser.goTo(link)
      await page.shows('There is no VM on this host yet.')
      expect(await browser.evaluate<string>('location.href')).toBe(`${other.url}/`)
      expect(await browser.evaluate<string>('document.cookie')).toBe('')
      // The pass opens the page again; the link does not, where nobody has a pass.
      await browser.goTo(`${other.url}/`)
      await page.shows('There is no VM on this host yet.')
      expect((await fetch(link)).status).toBe(401)
      const another = await runBacklot(['host', 'link'], {
        BACKLOT_HOST_URL: other.url,
        BACKLOT_HOST_TOKEN: 'open-sesame',
      })
      const { url } = JSON.parse(another.stdout) as { url: string }
      expect((await fetch(url)).status).toBe(200)
    },
    minutes,
  )
})

describe('a service that dies', () => {
  test(
    'is missed, and taken up again with its screens when it is back',
    async () => {
      expect((await post('/vms/first/snapshots/asleep/restore')).status).toBe(200)
      await run(host, 'first', {})
      await browser.goTo(`${host.url}/#${encodeURIComponent('home/first')}`)
      const isShown = `document.querySelector('.screen')?.dataset.state === 'shown'`
      await browser.until(isShown)
      await host.kill()
      await page.shows('No connection to the service')
      await browser.until(`document.querySelector('.screen')?.dataset.state === 'lost'`)
      await page.keep('lost')
      await using _ = await startVmHost(['--port', String(host.port)], host.home)
      await browser.until(`document.querySelector('.connection.live') !== null`)
      await browser.until(isShown)
      expect((await get(host, 'first')).status).toBe('running')
      expect((await post('/vms/first/stop', { graceSeconds: 0 })).status).toBe(200)
    },
    2 * minutes,
  )
})
