/** What the platform lets the driver do. */
import { Failure } from '@backlot/contract/failure'
import { Type } from '@sinclair/typebox'
import { reads, tool } from '../tool/tool.ts'

export const checkPermissions = tool({
  name: 'check_permissions',
  title: 'Check permissions',
  description: 'Whether trees can be read and screens captured here. Call when either fails.',
  arguments: Type.Object({
    prompt: Type.Optional(Type.Boolean({ default: true, more: 'Ask for missing grants; nothing to ask on Linux.' })),
  }),
  attributes: reads(),
  async run({ driver }) {
    const [tree, picture, windows] = await Promise.all([
      tried(async () => (await driver.accessibility()).applications()),
      tried(async () => (await driver.capturer()).screen(64, [])),
      tried(async () => (await driver.desktop()).windows()),
    ])
    const reached = new Set(tree.value?.map(({ pid }) => pid))
    const mute =
      tree.value === undefined ? [] : (windows.value ?? []).filter(({ pid }) => pid !== 0 && !reached.has(pid))
    const inaccessible = [...new Map(mute.map(({ pid, app_name }) => [pid, { pid, app_name }])).values()]
    const probed = [
      `accessibility: ${tree.failure?.message ?? `the accessibility bus lists ${reached.size} application(s)`}`,
      `screen_recording: ${picture.failure?.message ?? 'a picture of the display was taken'}`,
    ]
    const [accessibility, screen_recording] = [tree.failure === undefined, picture.failure === undefined]
    const mark = (granted: boolean) => (granted ? '✅' : '❌')
    return {
      text: [
        `${mark(accessibility)} Accessibility. ${mark(screen_recording)} Screen recording.`,
        ...probed,
        ...inaccessible.map(({ pid, app_name }) => `not on the accessibility bus: ${app_name} (pid ${pid})`),
      ].join('\n'),
      structured: { accessibility, screen_recording, probed, inaccessible },
    }
  },
})

const tried = async <T>(probe: () => Promise<T>): Promise<{ value?: T; failure?: Failure }> => {
  try {
    return { value: await probe() }
  } catch (error) {
    return { failure: Failure.from(error) }
  }
}
