/** Routes that belong together, and what they make possible. */
import type { Feature } from '@backlot/contract/computer/command'
import type { BoundServer } from '@backlot/serve'
import type { AnyElysia } from 'elysia'

/** What works: true, or why not. */
type Tried = Readonly<Partial<Record<Feature, true | string>>>

export interface RouteGroup {
  routes(app: AnyElysia, server: BoundServer): AnyElysia
  /** The features that it brings: true, or why not. `tried` is what the backend brings. */
  features(tried: Tried): Tried
}
