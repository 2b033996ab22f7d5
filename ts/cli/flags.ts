/** Flags of a command, read by node's own parser. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { Failure } from '@backlot/contract/failure'

/** `parseArgs`, refusing with `usage`; `command` is how the command is called: `host config set`. */
export const readFlags = <const Config extends ParseArgsConfig>(
  command: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> => {
  try {
    return parseArgs(config)
  } catch (error) {
    const [reason] = (error as Error).message.split('. ')
    throw new Failure('usage', `${reason}. \`backlot ${command} --help\` shows what it takes.`)
  }
}
