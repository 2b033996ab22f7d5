/** The screen and the person's pointer. */
import { Type } from '@sinclair/typebox'
import { reads, tool } from '../tool/tool.ts'

export const getScreenSize = tool({
  name: 'get_screen_size',
  title: 'Screen size',
  description: 'Size of the main display in points, and its scale factor.',
  arguments: Type.Object({}),
  attributes: reads(),
  async run({ driver }) {
    const { width, height, scale_factor } = await (await driver.desktop()).screen()
    return {
      text: `✅ Main display: ${width}x${height} points @ ${scale_factor}x`,
      structured: { width, height, scale_factor },
    }
  },
})

export const getCursorPosition = tool({
  name: 'get_cursor_position',
  title: 'Cursor position',
  description: "The person's mouse cursor in screen points from the top-left corner.",
  arguments: Type.Object({}),
  attributes: reads(),
  async run({ driver }) {
    const { x, y } = await (await driver.desktop()).cursorPosition()
    return { text: `✅ Cursor at (${x}, ${y})`, structured: { x, y } }
  },
})
