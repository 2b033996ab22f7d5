/** What goes beyond the specification, and is hidden where the configuration says `extensions: false`. */
import type { ConfigFile } from '../config/config.ts'
import type { Tool } from './tool.ts'

/** Whether extensions are offered; a configuration that cannot be read hides nothing. */
export const offersExtensions = async (config: ConfigFile): Promise<boolean> =>
  config.read().then(
    ({ extensions }) => extensions,
    () => true,
  )

/** Whether the tool is there. */
export const isOffered = (tool: Pick<Tool, 'attributes'>, extensions: boolean): boolean =>
  extensions || !tool.attributes.extension

/** The arguments of a tool that are not there: those whose schema carries `extension: true`. */
export const hiddenArguments = (tool: Pick<Tool, 'arguments'>, extensions: boolean): readonly string[] =>
  extensions
    ? []
    : Object.entries(tool.arguments.properties).flatMap(([name, schema]) => (schema.extension === true ? [name] : []))
