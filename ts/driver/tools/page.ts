/** The web page that a window shows. */

import { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import { page as limits, longestTimeoutMs } from '@backlot/contract/limits'
import type { Window } from '@backlot/native'
import { type Static, Type } from '@sinclair/typebox'
import { windowOf, windowOrFrontmost } from '../action/target.ts'
import type { Call } from '../context.ts'
import { clickAccessible, queryAccessible, readAccessibleText } from '../page/accessible.ts'
import { clickElement } from '../page/click-element.ts'
import { queryDom, readText } from '../page/read.ts'
import { runScript } from '../page/script.ts'
import { type ShownPage, withPage } from '../page/shown-page.ts'
import { pid, windowId } from '../tool/arguments.ts'
import { acts, type Outcome, tool } from '../tool/tool.ts'

const pageArguments = Type.Object({
  action: choice(['execute_javascript', 'get_text', 'query_dom', 'click_element', 'enable_javascript_apple_events']),
  pid: Type.Optional(pid),
  window_id: Type.Optional(windowId),
  bundle_id: Type.Optional(Type.String({ minLength: 1, description: 'Running app, in place of pid.' })),
  javascript: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'For execute_javascript: an expression or statements.',
      more: 'await and return work.',
    }),
  ),
  css_selector: Type.Optional(Type.String({ minLength: 1, description: 'For query_dom.' })),
  attributes: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 50,
      description: 'For query_dom.',
      more: 'Default: all there are.',
    }),
  ),
  selector: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'For click_element.',
      more: 'CSS; the first match. The pointer stays there, at most 10 s.',
    }),
  ),
  user_has_confirmed_enabling: Type.Optional(Type.Boolean({ description: 'macOS only.' })),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: longestTimeoutMs,
      default: limits.scriptMs,
      more: 'For the script.',
      extension: true,
    }),
  ),
})

type Arguments = Static<typeof pageArguments>

export const page = tool({
  name: 'page',
  title: 'Web page',
  description:
    "Works in the web page a browser or Electron window shows: runs JavaScript, reads text and elements, clicks by selector. Scripts need a debugging port: launch the app with electron_debugging_port, Firefox with additional_arguments ['--remote-debugging-port=N'].",
  arguments: pageArguments,
  attributes: { ...acts(), recorded: false, contents: ['result'] },
  onlyReads: ({ action }) => action === 'get_text' || action === 'query_dom',
  run: (call, args) => actions[args.action](call, args),
})

const required = <T>(argument: string, value: T | undefined): T => {
  if (value !== undefined) return value
  throw new Failure('missing_argument', `Missing required string field: ${argument}`, { argument })
}

const actions: Record<Arguments['action'], (call: Call, args: Arguments) => Promise<Outcome>> = {
  async execute_javascript(call, args) {
    const script = required('javascript', args.javascript)
    const run = (shownPage: ShownPage) => runScript(call, shownPage, script, args.timeout_ms ?? limits.scriptMs)
    return inPage(call, args, run, (window) => {
      throw new Failure(
        'page_needs_debugging_port',
        `Process ${window.pid} ("${window.app_name}") listens for no debugger, without which no script runs. Launch it with electron_debugging_port, a Firefox with additional_arguments ["--remote-debugging-port=N"]; get_text, query_dom and click_element work all the same.`,
        { pid: window.pid, window_id: window.window_id },
      )
    })
  },
  get_text: (call, args) => inPage(call, args, readText, (window) => readAccessibleText(call, window)),
  async query_dom(call, args) {
    const selector = required('css_selector', args.css_selector)
    return inPage(
      call,
      args,
      (shownPage) => queryDom(shownPage, selector, args.attributes),
      (window) => queryAccessible(call, window, selector, args.attributes),
    )
  },
  async click_element(call, args) {
    const selector = required('selector', args.selector)
    return inPage(
      call,
      args,
      (shownPage) => clickElement(call, shownPage, selector),
      (window) => clickAccessible(call, window, selector),
    )
  },
  async enable_javascript_apple_events() {
    throw new Failure(
      'not_on_this_platform',
      'enable_javascript_apple_events changes how macOS scripts a browser, and this is Linux. Launch the browser with electron_debugging_port instead.',
      { platform: process.platform },
    )
  },
}

/** Works through the browser's debugging port, and without one as `otherwise` says. */
const inPage = async (
  call: Call,
  args: Arguments,
  work: (shownPage: ShownPage) => Promise<Outcome>,
  otherwise: (window: Window) => Promise<Outcome>,
): Promise<Outcome> => {
  const window = await pageWindow(call, args)
  return (await withPage(call, window, work)) ?? otherwise(window)
}

const pageWindow = async (call: Call, { pid, window_id, bundle_id }: Arguments): Promise<Window> => {
  if (pid !== undefined) return windowOrFrontmost(call, pid, window_id)
  const desktop = await call.driver.desktop()
  if (window_id !== undefined) {
    const owner = (await desktop.windows()).find((window) => window.window_id === window_id)?.pid
    return windowOf(call, owner ?? 0, window_id)
  }
  if (bundle_id === undefined) {
    throw new Failure('missing_argument', 'Missing required integer field: pid (or window_id, or bundle_id).', {
      argument: 'pid',
    })
  }
  const app = (await desktop.apps()).find((each) => each.bundle_id === bundle_id && each.running)
  if (app !== undefined) return windowOrFrontmost(call, app.pid, undefined)
  throw new Failure('app_not_found', `No app "${bundle_id}" runs. Call list_apps, or launch_app to start it.`, {
    bundle_id,
  })
}
