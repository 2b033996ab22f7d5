/** The shell form of a tool: `backlot TOOL '{…}'` and `backlot call TOOL`. Loads only what a call needs. */
import { Failure } from '@backlot/contract/failure'
import type { ToolResult } from '@backlot/driver'
import { defaultSocket, identityOf, socketPath } from '@backlot/driver/edges/address'
import type { DaemonAddress } from '@backlot/driver/edges/client/launch'
import { callFromShell, statusOf, talkOf } from '@backlot/driver/edges/client/shell'
import { programCalled } from './executable.ts'
import { print, say } from './terminal/output.ts'

/** The flags of every tool call, as the help shows them. */
export const toolCallFlags = `  -                           Read the JSON from standard input.
  --raw                       Print the whole MCP result, pictures as base64.
  --screenshot-out-file PATH  Write the picture there instead of a file of the cache folder.
  --socket PATH               Use the daemon on that socket.
  --direct                    Run the tool in this process, without a daemon.`

interface Flags {
  json: string | undefined
  raw: boolean
  direct: boolean
  pictureFile: string | undefined
  socket: string | undefined
}

/** The socket that was named, or the one of the display. */
export const reachOf = (socket: string | undefined): DaemonAddress => ({
  socket: socket === undefined ? defaultSocket(process.env) : socketPath(absolute(socket)),
  expect: identityOf(process.env),
  program: programCalled('backlot-driver'),
})

const absolute = (path: string): string => (path.startsWith('/') ? path : `${process.cwd()}/${path}`)

/** Reads what stands after the tool's name, by hand: the parser of node costs more than the call. */
const readFlags = (tool: string, args: readonly string[]): Flags => {
  const flags: Flags = { json: undefined, raw: false, direct: false, pictureFile: undefined, socket: undefined }
  const wrong = (what: string) => new Failure('usage', `${what} \`backlot ${tool} --help\` shows what it takes.`)
  const rest = args.flatMap((arg) =>
    /^--[a-z-]+=/.test(arg) ? [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)] : [arg],
  )
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const flag = arg
    const value = (): string => {
      const next = rest.shift()
      if (next === undefined) throw wrong(`"${flag}" needs a path after it.`)
      return next
    }
    if (flag === '--raw') flags.raw = true
    else if (flag === '--direct' || flag === '--no-daemon-relaunch') flags.direct = true
    else if (flag === '--screenshot-out-file') flags.pictureFile = value()
    else if (flag === '--socket') flags.socket = value()
    else if (flag.startsWith('-') && flag !== '-') throw wrong(`The flag "${flag}" is not known.`)
    else if (flags.json !== undefined) throw wrong(`"${flag}" is one argument too many; put the JSON in single quotes.`)
    else flags.json = flag
  }
  return flags
}

/**
 * Calls the tool `name` and prints its result; gives the exit status.
 * `waitsForInput`: arguments that are absent stand on standard input, unless that is a terminal.
 */
export const callTool = async (
  name: string,
  args: readonly string[],
  { waitsForInput, whenUnknown }: { waitsForInput: boolean; whenUnknown?: () => Promise<Failure> },
): Promise<number> => {
  const flags = readFlags(name, args)
  const json = flags.json === undefined || flags.json === '-' ? await fromInput(flags.json, waitsForInput) : flags.json
  const result = await callFromShell({ name, json, isDirect: flags.direct, reach: reachOf(flags.socket) })
  if (whenUnknown !== undefined && result.structuredContent?.code === 'unknown_tool') throw await whenUnknown()
  await printResult(result, flags)
  return statusOf(result)
}

const fromInput = async (json: string | undefined, waits: boolean): Promise<string> => {
  const { readInput } = await import('@backlot/driver/edges/client/input')
  const text = await readInput(json === '-' || (waits && !isTerminal()))
  if (text === undefined)
    await say(`note: standard input holds nothing yet: called without arguments; "-" waits for them`)
  return text ?? ''
}

const isTerminal = (): boolean => require('node:tty').isatty(0)

const printResult = async (result: ToolResult, { raw, pictureFile }: Flags): Promise<void> => {
  const hasPicture = result.content.some((item) => item.type === 'image')
  let path: string | undefined
  if (hasPicture && (!raw || pictureFile !== undefined)) {
    path = (await import('@backlot/driver/edges/client/picture')).savePicture(result, pictureFile)
  }
  const structured =
    path === undefined ? result.structuredContent : { ...result.structuredContent, screenshot_file_path: path }
  await print(JSON.stringify(raw ? result : (structured ?? {})))
  await say(talkOf(result))
  if (pictureFile !== undefined && !hasPicture && result.isError !== true) {
    await say(`note: the result has no picture, so "${pictureFile}" was not written`)
  }
}
