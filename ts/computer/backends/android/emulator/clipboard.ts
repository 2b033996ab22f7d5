/** The clipboard by the emulator, and otherwise where the device has no emulator. */
import type { Handlers } from '../../../backend.ts'
import type { Emulator } from './emulator.ts'
import { clipData, empty, textOfClipData } from './messages.ts'

type Clipboard = Required<Pick<Handlers, 'copy_to_clipboard' | 'set_clipboard'>>

export const clipboardHandlers = (emulator: Emulator, otherwise: Clipboard): Clipboard => ({
  async copy_to_clipboard(params, call) {
    if (!(await emulator.runs())) return otherwise.copy_to_clipboard(params, call)
    const content = textOfClipData(await emulator.call('getClipboard', empty))
    return { content, result: content }
  },
  async set_clipboard(params, call) {
    if (!(await emulator.runs())) return otherwise.set_clipboard(params, call)
    await emulator.call('setClipboard', clipData(params.text))
    return {}
  },
})
