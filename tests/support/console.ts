/** The console in a browser, as a person uses it. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from './browser.ts'

const pictures = join(import.meta.dir, '../../target/console')

/** What a person does on the page, and sees. */
export interface ConsolePage {
  /** Keeps a picture of the page in `target/console`, to be looked at. */
  keep(name: string): Promise<void>
  /** Presses the button of that text, in the form that is asked if one is, once it can be pressed. */
  click(text: string): Promise<void>
  /** Waits until the page shows a text. */
  shows(text: string): Promise<void>
  /** Puts texts into the fields of the form that is asked, by their names. */
  fill(fields: Readonly<Record<string, string>>): Promise<void>
  /** Waits until a form is asked, or none is. */
  asks(isAsked: boolean): Promise<void>
  /** Waits until the form says why it was refused. */
  refuses(text: string): Promise<void>
  /** What the page says of the VM that it shows: its `name`, and the facts below by their words. */
  facts(): Promise<Record<string, string>>
}

/** The page that a browser is at. */
export const consolePage = (browser: Browser): ConsolePage => {
  const button = (text: string) =>
    `[...(document.querySelector('dialog') ?? document).querySelectorAll('button')].find(
      (each) => each.innerText === '${text}')`
  return {
    async keep(name) {
      await mkdir(pictures, { recursive: true })
      await writeFile(join(pictures, `${name}.png`), await browser.picture())
    },
    async click(text) {
      // In one step: an event of the service may make it unusable between two.
      await browser.until(`((found) => found?.disabled === false && (found.click(), true))(${button(text)})`)
    },
    shows: (text) => browser.until(`document.body.innerText.includes(${JSON.stringify(text)})`),
    fill: (fields) =>
      browser.evaluate(`(() => {
        for (const [name, text] of Object.entries(${JSON.stringify(fields)})) {
          document.querySelector('dialog form').elements[name].value = text
        }
      })()`),
    // One that is rendered but not open yet would be closed without an event.
    asks: (isAsked) =>
      browser.until(isAsked ? `document.querySelector('dialog')?.open` : `document.querySelector('dialog') === null`),
    refuses: (text) =>
      browser.until(`document.querySelector('dialog .fault')?.innerText.includes(${JSON.stringify(text)})`),
    facts: async () => ({
      name: await browser.evaluate<string>(`document.querySelector('article h2').innerText`),
      ...(await browser.evaluate<Record<string, string>>(
        `Object.fromEntries([...document.querySelectorAll('dl div')].map((each) =>
          [each.querySelector('dt').innerText, each.querySelector('dd').innerText]))`,
      )),
    }),
  }
}
