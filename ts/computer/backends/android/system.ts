/** A device as a whole, and its applications. */
import { Failure } from '@backlot/contract/failure'
import { version } from '@backlot/contract/version'
import type { Handlers } from '../../backend.ts'
import type { AndroidDevice } from './device.ts'
import { resolveDevicePath } from './paths.ts'

export const systemHandlers = (device: AndroidDevice) => {
  /** Starts an activity and waits until it has drawn its first frame; gives its process. */
  const start = async (words: readonly string[], signal: AbortSignal): Promise<number> => {
    const said = await device.run(['am', 'start', '-W', ...words], { signal })
    const [, component] = /^Activity: (\S+)/m.exec(said) ?? []
    if (!/^Status: ok/m.test(said) || component === undefined) {
      throw new Failure(
        'device_failed',
        `Android has not started ${words.at(-1)}: ${said.trim().split('\n').slice(0, 4).join('; ')}`,
      )
    }
    const [name = ''] = component.split('/')
    const { stdout } = await device.line(`pidof ${name.replace(/[^\w.]/g, '')}`, { signal })
    const [pid = ''] = stdout.trim().split(/\s+/)
    if (pid === '') throw new Failure('device_failed', `"${name}" was started and has ended already.`)
    return Number(pid)
  }
  return {
    version: async () => ({ protocol: 1, package: version }),
    get_environment: async () => ({ environment: 'android' as const }),
    get_desktop_environment: async () => ({ environment: 'android', desktop_environment: 'android' }),
    async get_active_window_title(_, { signal }) {
      const said = await device.run(['dumpsys', 'window'], { signal })
      const [, title = ''] = /mCurrentFocus=Window\{\S+ \S+ ([^}]*)\}/.exec(said) ?? []
      return { result: title }
    },
    async open({ target }, { signal }) {
      const isAddress = /^[a-z][a-z0-9+.-]+:/i.test(target)
      const path = isAddress ? '' : resolveDevicePath(target)
      if (!isAddress) {
        const there = await device.files.stat(path, true).catch(() => undefined)
        if (there === undefined) {
          throw new Failure(
            'file_not_found',
            `There is nothing at "${path}" on the device; give a path or an address.`,
            { path },
          )
        }
      }
      const address = isAddress ? target : `file://${encodeURI(path)}`
      return { pid: await start(['-a', 'android.intent.action.VIEW', '-d', address], signal) }
    },
    async launch({ app, args = [] }, { signal }) {
      const component = app.includes('/') ? app : await launcherOf(device, app, signal)
      const pid = await start(['-n', component, ...args], signal)
      return { pid, window_id: null, running: true }
    },
  } satisfies Handlers
}

/** The activity that the launcher of the device would start for a package. Throws `app_not_found`. */
const launcherOf = async (device: AndroidDevice, app: string, signal: AbortSignal): Promise<string> => {
  if (!/^[A-Za-z][\w.]*$/.test(app)) {
    throw new Failure('invalid_argument', `"${app}" is no package of Android; give one such as com.android.settings.`, {
      argument: 'app',
    })
  }
  const said = await device.run(
    [
      'cmd',
      'package',
      'resolve-activity',
      '--brief',
      '-a',
      'android.intent.action.MAIN',
      '-c',
      'android.intent.category.LAUNCHER',
      app,
    ],
    { signal },
  )
  const component = said.trim().split('\n').at(-1)?.trim() ?? ''
  if (component.startsWith(`${app}/`)) return component
  throw new Failure(
    'app_not_found',
    `The device has no application "${app}" that can be started; \`pm list packages\` lists them.`,
    { app },
  )
}
