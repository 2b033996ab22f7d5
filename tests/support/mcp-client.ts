/** The official TypeScript MCP client, connected to the executable under test. */
import type { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js'
import { backlotCommand } from './backlot.ts'
import { loadClient } from './bundled-client.ts'
import type { TestDesktop } from './desktop.ts'

const { Client, StdioClientTransport } = await loadClient()

/** Result of a tool, taken apart. */
export interface Result {
  readonly isError: boolean
  /** All text blocks. */
  readonly text: string
  /** `structuredContent`, or an empty record. */
  readonly structured: Readonly<Record<string, unknown>>
  /** Bytes of the first picture. */
  readonly image: Buffer | null
}

/** A connected client. */
export interface McpClient extends AsyncDisposable {
  readonly client: SdkClient
  /** Pid of the server that the client started. */
  readonly pid: number
  /** Calls a tool and gives its result, failures included. */
  call(name: string, args?: Record<string, unknown>): Promise<Result>
  /** Calls a tool that must not fail, and gives its `structuredContent` as what the test knows it to be. */
  ask<T = Record<string, never>>(name: string, args?: Record<string, unknown>): Promise<T>
  /** What the server wrote to standard error so far. */
  stderr(): string
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly data?: string
}

/** Starts `backlot mcp` with these flags on a desktop and connects to it. */
export const connect = (on: TestDesktop, ...flags: string[]): Promise<McpClient> =>
  connectTo(on, backlotCommand('mcp', ...flags))

/** Starts a server on a desktop and connects to it. */
export const connectTo = async (
  on: TestDesktop,
  [command, ...args]: readonly [string, ...string[]],
): Promise<McpClient> => {
  const transport = new StdioClientTransport({ command, args, env: on.env, cwd: on.home, stderr: 'pipe' })
  let said = ''
  transport.stderr?.on('data', (bytes: Buffer) => {
    said += bytes.toString()
  })
  const client = new Client({ name: 'backlot-tests', version: '1.0.0' })
  await client.connect(transport)

  const call = async (name: string, given: Record<string, unknown> = {}): Promise<Result> => {
    const result = await client.callTool({ name, arguments: given })
    const blocks = result.content as Block[]
    const picture = blocks.find((block) => block.type === 'image')?.data
    return {
      isError: result.isError === true,
      text: blocks.flatMap((block) => block.text ?? []).join('\n'),
      structured: (result.structuredContent ?? {}) as Record<string, unknown>,
      image: picture === undefined ? null : Buffer.from(picture, 'base64'),
    }
  }
  return {
    client,
    pid: transport.pid ?? 0,
    call,
    async ask<T>(name: string, given: Record<string, unknown> = {}) {
      const result = await call(name, given)
      if (result.isError) throw new Error(`${name} ${JSON.stringify(given)}: ${result.text}\n${said}`)
      return result.structured as T
    },
    stderr: () => said,
    async [Symbol.asyncDispose]() {
      await client.close()
    },
  }
}
