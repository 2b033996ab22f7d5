/** Applications: which there are, starting one in the background, ending one. */
import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { App, Desktop, Window } from '@backlot/native'
import { Type } from '@sinclair/typebox'
import { answer } from '../action/act.ts'
import type { Evidence } from '../action/evidence.ts'
import { expandHome } from '../paths.ts'
import { pid } from '../tool/arguments.ts'
import { acts, reads, tool } from '../tool/tool.ts'
import { windowLine } from './windows.ts'

/** Milliseconds that a launched application has to show its first window. */
const launchTimeoutMs = 10_000

const appLine = (app: App): string =>
  `- ${app.name}${app.running ? ` (pid ${app.pid})${app.active ? ' [active]' : ''}` : ''} bundle_id=${app.bundle_id}`

export const listApps = tool({
  name: 'list_apps',
  title: 'List apps',
  description: 'Running and installed apps with bundle_id, pid and launch_path. Use bundle_id with launch_app.',
  arguments: Type.Object({}),
  attributes: reads(),
  async run({ driver }) {
    const apps = await (await driver.desktop()).apps()
    const running = apps.filter((app) => app.running).length
    return {
      text: [
        `✅ Found ${apps.length} app(s): ${running} running, ${apps.length - running} installed-not-running.`,
        ...apps.toSorted((a, b) => Number(b.running) - Number(a.running)).map(appLine),
      ].join('\n'),
      structured: { apps },
    }
  },
})

const port = (more: string) => Type.Integer({ minimum: 1, maximum: 65_535, more })

export const launchApp = tool({
  name: 'launch_app',
  title: 'Launch an app',
  description:
    'Starts an app in the background, accessibility on, and returns its pid and windows. Give bundle_id or name.',
  arguments: Type.Object({
    bundle_id: Type.Optional(Type.String({ minLength: 1, description: 'From list_apps; wins over name.' })),
    name: Type.Optional(
      Type.String({ minLength: 1, description: 'App name, launch_path, program on PATH, or absolute path.' }),
    ),
    urls: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { more: 'Files or URLs to open.' })),
    electron_debugging_port: Type.Optional(port('Opens a Chrome DevTools server there.')),
    webkit_inspector_port: Type.Optional(port('Opens a WebKit inspector there.')),
    creates_new_application_instance: Type.Optional(
      Type.Boolean({ default: false, more: 'Start another instance even when one runs.' }),
    ),
    additional_arguments: Type.Optional(Type.Array(Type.String(), { more: 'Appended to the command line.' })),
  }),
  attributes: { ...acts(), destructive: false },
  async run({ driver }, args) {
    if (args.bundle_id === undefined && args.name === undefined) {
      throw new Failure(
        'missing_argument',
        'Missing required string field: bundle_id (or name). Call list_apps for the apps that are there.',
        { argument: 'bundle_id' },
      )
    }
    const urls = args.urls?.map(openable)
    const desktop = await driver.desktop()
    const before = new Map((await desktop.windows()).map(({ window_id, title }) => [window_id, title]))
    const listed = await listedAt(desktop, args)
    const launched = await desktop.launch({ ...args, ...listed, ...(urls && { urls }), timeout_ms: launchTimeoutMs })
    const { name, windows, self_activation_suppressed, prior_window_restored, ...facts } = launched
    const shown = ({ window_id, title }: Window): Evidence[] => {
      if (!before.has(window_id)) return [{ kind: 'window_opened', detail: `window ${window_id} "${title}" opened` }]
      return before.get(window_id) === title
        ? []
        : [{ kind: 'state_changed', detail: `window ${window_id} "${title}" has a new title` }]
    }
    const ended = `Launched ${name}, whose process has ended without a window.`
    const summary = launched.pid === 0 ? ended : `Launched ${name} (pid ${launched.pid}) in background.`
    const outcome = answer(
      summary,
      { evidence: windows.flatMap(shown) },
      {
        ...facts,
        name,
        windows,
        ...(self_activation_suppressed === null ? {} : { self_activation_suppressed }),
        prior_window_restored,
      },
    )
    const notes = prior_window_restored ? ['It took the foreground; the window before it was restored.'] : []
    return { ...outcome, text: [outcome.text, ...notes, ...windows.map(windowLine)].join('\n') }
  },
})

/** The bundle_id of the app whose `launch_path` stands in for its name. */
const listedAt = async (desktop: Desktop, { bundle_id, name }: { bundle_id?: string; name?: string }) => {
  if (bundle_id !== undefined || name === undefined || !isAbsolute(name)) return {}
  const app = (await desktop.apps()).find(({ launch_path }) => launch_path === name)
  return app && { bundle_id: app.bundle_id }
}

/** A URL, or a file's absolute path: a relative one would mean another file in each process that reads it. */
const openable = (url: string): string => {
  const path = expandHome(url, homedir())
  if (isAbsolute(path) || /^[a-z][a-z0-9+.-]*:/i.test(path)) return path
  throw new Failure('invalid_argument', `Argument "urls" holds "${url}". Give a URL or an absolute path.`, {
    argument: 'urls',
  })
}

export const killApp = tool({
  name: 'kill_app',
  title: 'Kill an app',
  description: 'Ends a process by force; unsaved work is lost. Try closing it through its own menu first.',
  arguments: Type.Object({ pid }),
  attributes: { ...acts(), idempotent: true, openWorld: false, recorded: false },
  async run({ driver }, args) {
    const desktop = await driver.desktop()
    const name = (await desktop.windows()).find((window) => window.pid === args.pid)?.app_name
    await desktop.kill(args.pid)
    const gone: Evidence = { kind: 'process_gone', detail: `process ${args.pid} is gone` }
    const summary = `✅ Killed ${name === undefined ? 'process' : name} (pid ${args.pid}).`
    return answer(summary, { evidence: [gone] }, { pid: args.pid })
  },
})
