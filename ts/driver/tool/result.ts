/** The envelope of every call: MCP's `CallToolResult` (protocol revision 2025-06-18). */
import type { Failure } from '@backlot/contract/failure'
import type { Outcome } from './tool.ts'

/** What a call gives, whatever edge it came through; a failure's `structuredContent` is {…data, code, message}. */
export interface ToolResult {
  readonly content: readonly (
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  )[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: true
}

/** The result of a tool that did what it was asked. */
export const succeeded = ({ text, structured, image }: Outcome): ToolResult => ({
  content: [
    { type: 'text', text },
    ...(image === undefined
      ? []
      : [{ type: 'image' as const, data: image.bytes.toBase64(), mimeType: image.mimeType }]),
  ],
  structuredContent: structured,
})

/** The result of a call that failed. */
export const failed = ({ code, message, data }: Failure): ToolResult => ({
  content: [{ type: 'text', text: message }],
  structuredContent: { ...data, code, message },
  isError: true,
})
