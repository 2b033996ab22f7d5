/** The screen: its picture, its size, its coordinates. */
import type { Handlers } from '../../backend.ts'
import type { Display } from './display.ts'

/** Pixels of a screenshot are those of the screen. */
const same = async ({ x, y }: { x: number; y: number }) => ({ coordinates: [x, y] })

/** Quality where a caller names none. */
const usualQuality = 95

export const screenHandlers = (display: Display) =>
  ({
    async screenshot({ format = 'png', quality = usualQuality }) {
      const capturer = await display.capturer()
      if (format === 'png') {
        const { png, width, height } = await capturer.screen(0, [])
        return { image_data: png.toString('base64'), format: 'png', width, height }
      }
      const { jpeg, width, height } = await capturer.screenJpeg(quality)
      return { image_data: jpeg.toString('base64'), format: 'jpeg', width, height }
    },
    async get_screen_size() {
      const { width, height } = await (await display.desktop()).screen()
      return { size: { width, height } }
    },
    to_screen_coordinates: same,
    to_screenshot_coordinates: same,
  }) satisfies Handlers
