/** The whole display: its picture in exact pixels, and every window on it. */
import { Type } from '@sinclair/typebox'
import { absolutePath, writePicture } from '../paths.ts'
import { reads, tool } from '../tool/tool.ts'
import { inStackingOrder, isInView, windowLine } from './windows.ts'

export const getDesktopState = tool({
  name: 'get_desktop_state',
  title: 'Read the whole display',
  description:
    'A screenshot of the whole display, in screen pixels unless max_image_dimension scales it, and all windows back to front. Use it for what lies between windows; to act, use get_window_state.',
  arguments: Type.Object({
    on_screen_only: Type.Optional(
      Type.Boolean({ default: false, description: 'Leave out minimised windows and other workspaces.' }),
    ),
    include_screenshot: Type.Optional(Type.Boolean({ default: true })),
    cursor: Type.Optional(Type.Boolean({ default: false, description: 'Show the cursors of agents.' })),
    screenshot_out_file: Type.Optional(
      Type.String({ minLength: 1, description: 'Write the PNG to this path instead of returning it.' }),
    ),
  }),
  attributes: { ...reads('screen_recording'), extension: true, writes: ['screenshot_out_file'] },
  async run(call, args) {
    const { driver } = call
    const path = args.screenshot_out_file && absolutePath('screenshot_out_file', args.screenshot_out_file)
    const { max_image_dimension } = await call.config()
    const wantsPicture = path !== undefined || args.include_screenshot !== false
    const desktop = await driver.desktop()
    const hidden = wantsPicture && args.cursor !== true ? await driver.cursors.windows() : []
    const [everyWindow, screen, picture] = await Promise.all([
      desktop.windows(),
      desktop.screen(),
      wantsPicture ? driver.capturer().then((capturer) => capturer.screen(max_image_dimension, hidden)) : undefined,
    ])
    if (path !== undefined && picture !== undefined) await writePicture(path, picture.png)
    const windows = inStackingOrder(everyWindow).filter((window) => !args.on_screen_only || isInView(window))
    const file = path === undefined ? '' : ` in ${path}`
    return {
      text: [
        `✅ Display ${screen.width}x${screen.height}, ${windows.length} window(s), back to front.`,
        ...(picture === undefined
          ? []
          : [`screenshot: ${picture.width}x${picture.height} scale ${picture.scale}${file}`]),
        ...windows.map(windowLine),
      ].join('\n'),
      structured: {
        width: screen.width,
        height: screen.height,
        windows,
        ...(picture !== undefined && {
          screenshot_width: picture.width,
          screenshot_height: picture.height,
          screenshot_mime_type: 'image/png',
          ...(path !== undefined && { screenshot_file_path: path }),
          scale: picture.scale,
        }),
      },
      ...(picture !== undefined &&
        path === undefined && { image: { bytes: picture.png, mimeType: 'image/png' as const } }),
    }
  },
})
