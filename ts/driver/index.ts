/** The desktop driver: its tools and the one way to call them. */
export { callTool, type ToolResult } from './call.ts'
export { nearest } from './check.ts'
export { type Config, configSchema } from './config.ts'
export type { CallContext } from './context.ts'
export { describeTool, type ToolDescription } from './describe.ts'
export { type Driver, type DriverOptions, openDriver } from './driver.ts'
export { findTool, tools } from './registry.ts'
export type { Outcome, Tool } from './tool.ts'
