/** What a runtime says of what it started. */
import type { Environment } from '../basics.ts'

/** How to reach what a runtime started; `guestServerPort` is 8000 unless given. */
export interface RuntimeInfo {
  readonly host: string
  readonly apiPort: number
  readonly apiKey?: string
  readonly guestServerPort?: number
  readonly name?: string
  readonly containerId?: string
  readonly environment?: Environment
  readonly agentType?: string
  readonly vncHost?: string
  readonly vncPort?: number
  readonly vncPassword?: string
  readonly qmpPort?: number
  readonly grpcPort?: number
  readonly sshPort?: number
  readonly sshUsername?: string
  readonly sshPassword?: string
  readonly sshKeyFilename?: string
}
