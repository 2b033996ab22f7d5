/** The demo's MCP client: the official one, with every call kept in a file. */
import { appendFileSync, writeFileSync } from 'node:fs'
import { codeOf, Failure } from '@backlot/contract/failure'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

/** What a tool gave back. */
export interface ToolAnswer<Structured> {
  readonly structured: Structured
  /** Bytes of its picture, if it made one. */
  readonly image: Buffer | null
}

/** A connected client. */
export interface DemoClient extends AsyncDisposable {
  /** Calls a tool; a failed call throws the failure. */
  call<Structured>(name: string, args?: Record<string, unknown>): Promise<ToolAnswer<Structured>>
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly data?: string
}

/** Starts an MCP server and connects to it; `log` gets one line of JSON a call, without pictures. */
export const connectClient = async (options: {
  readonly command: readonly string[]
  readonly env: Record<string, string>
  readonly log: string
}): Promise<DemoClient> => {
  const [command = '', ...args] = options.command
  const client = new Client({ name: 'backlot-demo', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command, args, env: options.env, stderr: 'inherit' }))
  writeFileSync(options.log, '')
  return {
    async call<Structured>(name: string, given: Record<string, unknown> = {}) {
      const startedAt = performance.now()
      const result = await client.callTool({ name, arguments: given })
      const ms = Math.round((performance.now() - startedAt) * 10) / 10
      const blocks = result.content as Block[]
      const text = blocks.flatMap((block) => block.text ?? []).join('\n')
      const structured = (result.structuredContent ?? {}) as Record<string, unknown>
      const failed = result.isError === true
      const entry = { tool: name, arguments: given, ms, failed, text, structured }
      appendFileSync(options.log, `${JSON.stringify(entry)}\n`)
      if (failed) throw new Failure(codeOf(structured.code), `${name}: ${text}`)
      const picture = blocks.find((block) => block.type === 'image')?.data
      return {
        structured: structured as Structured,
        image: picture === undefined ? null : Buffer.from(picture, 'base64'),
      }
    },
    async [Symbol.asyncDispose]() {
      await client.close()
    },
  }
}
