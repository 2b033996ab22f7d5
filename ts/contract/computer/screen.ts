/** Commands that look at the screen. */
import { Type } from '@sinclair/typebox'
import { choice } from '../fields/choice.ts'
import { command } from './command.ts'
import { none, x, y } from './fields.ts'

const coordinates = Type.Object({ coordinates: Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }) })

export const screenCommands = {
  screenshot: command({
    summary: 'Take a picture of the whole screen.',
    params: Type.Object({
      format: Type.Optional(choice(['png', 'jpeg', 'jpg'], { description: 'Format; `png` when absent.' })),
      quality: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 95, description: 'Quality of a JPEG; 95 when absent.' }),
      ),
    }),
    result: Type.Object({
      image_data: Type.String({ description: 'The picture, in base64.' }),
      format: choice(['png', 'jpeg']),
      width: Type.Integer({ description: 'Pixels.' }),
      height: Type.Integer({ description: 'Pixels.' }),
    }),
    needs: 'display',
    flat: 'image_data',
  }),
  get_screen_size: command({
    summary: 'Tell how large the screen is.',
    params: none,
    result: Type.Object({ size: Type.Object({ width: Type.Integer(), height: Type.Integer() }) }),
    needs: 'display',
    flat: 'size',
  }),
  to_screen_coordinates: command({
    summary: 'Turn a place in a screenshot into one on the screen.',
    params: Type.Object({ x, y }),
    result: coordinates,
    needs: 'display',
    flat: 'coordinates',
  }),
  to_screenshot_coordinates: command({
    summary: 'Turn a place on the screen into one in a screenshot.',
    params: Type.Object({ x, y }),
    result: coordinates,
    needs: 'display',
    flat: 'coordinates',
  }),
} as const
