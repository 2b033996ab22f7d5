/** The driver's configuration. */
import { Type } from '@sinclair/typebox'
import { type Config, configSchema } from '../config/config.ts'
import { withoutDefault } from '../config/settings.ts'
import { anonymous } from '../session/sessions.ts'
import { arranges, reads, tool } from '../tool/tool.ts'

const asText = (config: Config): string =>
  Object.entries(config)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ')

export const getConfig = tool({
  name: 'get_config',
  title: 'Read configuration',
  description: 'The current configuration of the driver.',
  arguments: Type.Object({}),
  attributes: reads(),
  async run(call) {
    const config = await call.config()
    return {
      text: `✅ ${asText(config)}`,
      structured: { ...config, platform: process.platform, config_file: call.driver.config.path },
    }
  },
})

/** The keys that agents may change, as arguments: all optional, and what is not named stays as it is. */
const {
  capture_mode,
  check_for_update,
  element_tags,
  experimental_pip,
  experimental_pip_geometry,
  max_image_dimension,
} = configSchema.properties

const keys = Type.Object({
  capture_mode: Type.Optional(withoutDefault(capture_mode)),
  check_for_update: Type.Optional(withoutDefault(check_for_update)),
  element_tags: Type.Optional(withoutDefault(element_tags)),
  experimental_pip: Type.Optional(withoutDefault(experimental_pip)),
  experimental_pip_geometry: Type.Optional(withoutDefault(experimental_pip_geometry)),
  max_image_dimension: Type.Optional(withoutDefault(max_image_dimension)),
})

export const setConfig = tool({
  name: 'set_config',
  title: 'Change configuration',
  description:
    'Changes the keys given, for this session; from a shell that names no session, for everyone. The others stay.',
  arguments: keys,
  attributes: arranges,
  async run(call, args) {
    const { driver, owner } = call
    const isStored = owner.key === anonymous
    if (isStored) await driver.config.write(args)
    else owner.overrides = { ...owner.overrides, ...args }
    const config = await call.config()
    const where = isStored ? '' : ' For this session only.'
    return {
      text: `✅ ${asText(config)}${where}`,
      structured: { ...config, config_file: driver.config.path, stored: isStored },
    }
  },
})
