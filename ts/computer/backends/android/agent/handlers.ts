/** Commands that the agent on the device carries out. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../../../backend.ts'
import { isPlain } from '../adb/sync.ts'
import type { AndroidDevice } from '../device.ts'
import { statOf } from '../files/commands.ts'
import { resolveDevicePath } from '../paths.ts'
import type { DeviceAgent } from './agent.ts'

export const agentHandlers = (device: AndroidDevice, agent: DeviceAgent) =>
  ({
    async copy_to_clipboard(_, { signal }) {
      const content = (await agent.ask({ ask: 'get_clipboard' }, signal)).toString()
      return { content, result: content }
    },
    async set_clipboard({ text }, { signal }) {
      await agent.ask({ ask: 'set_clipboard', text }, signal)
      return {}
    },
    async set_wallpaper({ path: given, target = 'home' }, { signal }) {
      const path = resolveDevicePath(given)
      if (!isPlain(await statOf(device, path, true))) {
        throw new Failure('invalid_argument', `"${path}" is no file; give a picture on the device.`, { path })
      }
      await agent.ask({ ask: 'set_wallpaper', path, target }, signal)
      return {}
    },
  }) satisfies Handlers
