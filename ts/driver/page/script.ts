/** Running a caller's script in a page. */
import { addAbortListener } from 'node:events'
import { Failure } from '@backlot/contract/failure'
import { page as limits } from '@backlot/contract/limits'
import type { Call } from '../context.ts'
import { reasonOf } from '../ending.ts'
import type { Outcome } from '../tool/tool.ts'
import { asFacts, type Facts, NoAnswer } from './browser-socket.ts'
import type { ShownPage } from './shown-page.ts'
import type { ScriptResult, WebPage } from './web-page.ts'

/** Runs the script and gives its value; throws `script_failed` with the stack, or `script_timeout`. */
export const runScript = async (
  call: Call,
  { page, window, tab }: ShownPage,
  script: string,
  timeoutMs: number,
): Promise<Outcome> => {
  // A page that does not answer now would run the script some time after the call has failed.
  await page.callFunction('() => ""', '', limits.commandMs)
  if (call.signal.aborted) throw reasonOf(call.signal)
  using _halting = addAbortListener(call.signal, () => void page.halt().catch(() => undefined))
  try {
    const ran = await runAnyForm(call, page, script, timeoutMs)
    if ('thrown' in ran) throw scriptFailed(ran.thrown)
    const { type, value, is_json } = described(ran.value)
    return {
      text: `✅ Ran the script in "${tab.title}". ${resultLine(described(ran.value))}`,
      structured: {
        pid: window.pid,
        window_id: window.window_id,
        result: value,
        result_type: type,
        is_json,
        route: page.route,
      },
    }
  } catch (error) {
    if (!(error instanceof NoAnswer) || page.dialog !== undefined) throw error
    throw await timedOut(page, timeoutMs)
  }
}

const resultLine = ({ type, value, is_json }: Facts): string => {
  if (type === 'undefined') return 'It gave undefined.'
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  return is_json === true ? `Result: ${shown}` : `Result (${type}, described where JSON has no word): ${shown}`
}

/**
 * The forms that a caller's text may have: statements, an expression with `await`, the body of a function with `return`.
 * The first is a block, so that what one script declares does not keep the next from declaring it.
 */
const forms: readonly ((script: string) => string)[] = [
  (script) => `{${script}\n}`,
  (script) => `(async () => (${script}\n))()`,
  (script) => `(async () => {${script}\n})()`,
]

/** Runs the script once, in the first form that parses; what has run must not be run again in another form. */
const runAnyForm = async (call: Call, page: WebPage, script: string, timeoutMs: number): Promise<ScriptResult> => {
  const flaws: ScriptResult[] = []
  const proof = crypto.randomUUID()
  for (const form of forms) {
    // The whole text is parsed before its first statement throws, so nothing behind that runs, however its braces match.
    const parsed = await page.run(`throw '${proof}'; ${form(script)}`, limits.commandMs)
    // Trying the forms takes a while, in which the caller may have given up.
    if (call.signal.aborted) throw reasonOf(call.signal)
    if ('thrown' in parsed && parsed.thrown.includes(proof)) return page.run(form(script), timeoutMs)
    flaws.push(parsed)
  }
  return flaws[0] ?? { thrown: '' }
}

const timedOut = async (page: WebPage, timeoutMs: number): Promise<Failure> => {
  const answers = () =>
    page.callFunction('() => ""', '', limits.backgroundMs).then(
      () => true,
      () => false,
    )
  const isFree = (await answers()) || ((await page.halt().catch(() => false)) && (await answers()))
  const state = isFree
    ? 'The page answers again; what the script waited for may still come'
    : 'The script still runs, and the page does not answer'
  return new Failure(
    'script_timeout',
    `The script, or the promise that it gave, took longer than ${timeoutMs} ms. ${state}. Pass a longer timeout_ms, or a script that does less.`,
    { timeout_ms: timeoutMs, page_answers: isFree },
  )
}

const scriptFailed = (thrown: string): Failure => {
  const stack = thrown.slice(0, limits.longestText)
  return new Failure('script_failed', `The script threw: ${stack}\nMend the script, then call page again.`, { stack })
}

const described = (text: string): Facts => {
  try {
    const facts = asFacts(JSON.parse(text))
    const { value } = facts
    const isLong = typeof value === 'string' && value.length > limits.longestText
    return isLong ? { ...facts, value: value.slice(0, limits.longestText), is_json: false, cut: true } : facts
  } catch {
    // The page's own scripts may have changed what the description is made with.
    return { type: 'unknown', value: text.slice(0, limits.longestText), is_json: false }
  }
}
