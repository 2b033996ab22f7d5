/** Who runs the tools for an edge: the daemon, or this process. */
import type { ToolResult } from '../tool/result.ts'
import type { Access } from './access.ts'

/** Runs tools. */
export interface ToolRunner extends AsyncDisposable {
  /** Never throws: whatever goes wrong is a result with `isError`. */
  call(name: string, args: unknown, signal: AbortSignal): Promise<ToolResult>
  /** What the far side permits, found without starting anything. */
  access(): Promise<Access>
}
