/** What the caller of a build chooses for its layers. */
import type { CallOptions } from '../basics.ts'

/** How layers are carried out. */
export interface LayerOptions extends CallOptions {
  /** The folder of the Android SDK whose tools make apps. @default the one of this machine */
  readonly androidSdk?: string
  /** Is told what a layer found that the person should know. */
  readonly onNote?: (message: string) => void
}
