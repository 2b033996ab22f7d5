/** What a tool is: a declaration and its handler, from which every edge reads what it needs. */
import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { Call } from '../context.ts'
import { elementToken, observe } from './arguments.ts'

/** What a handler gives back; the envelope of MCP is made of it in one place. */
export interface Outcome {
  /** The summary, shown first. */
  readonly text: string
  /** `structuredContent` of the result. */
  readonly structured: Readonly<Record<string, unknown>>
  /** A picture, if the tool made one. */
  readonly image?: { readonly bytes: Uint8Array; readonly mimeType: 'image/png' | 'image/jpeg' }
}

/** What the platform must grant for a tool to work. */
export type Grant = 'accessibility' | 'screen_recording'

/** What edges, permissions and recordings read off a tool. */
export interface Attributes {
  /** Changes nothing but the files that `writes` names. */
  readonly readOnly: boolean
  /** May lose what somebody made. */
  readonly destructive: boolean
  /** The same call again changes nothing further. */
  readonly idempotent: boolean
  /** May reach beyond this machine, as a browser does with what is typed into it. */
  readonly openWorld: boolean
  /** Acts on the desktop, and so halts and is refused while the person has paused that. */
  readonly pausable: boolean
  /** A recording keeps its calls. */
  readonly recorded: boolean
  /** Presses where a picture of its turn shows a dot. */
  readonly clicks?: true
  /** Arguments that hold texts which are typed, and are masked where they are secrets. */
  readonly types?: readonly string[]
  /** Arguments that hold keys, which are masked where they type a part of a secret. */
  readonly presses?: readonly string[]
  /** Fields of the result that hold what an application made, which may be any JSON. */
  readonly contents?: readonly string[]
  /** Ours, beyond the specification. */
  readonly extension: boolean
  /** Changes what the person sees or where the person's keys go; every other tool leaves both alone. */
  readonly disturbs?: true
  /** What the platform must grant. */
  readonly grants: readonly Grant[]
  /** Arguments that name a file which the call writes. */
  readonly writes: readonly string[]
}

/** A tool of the driver. */
export interface Tool<Arguments extends TObject = TObject> {
  readonly name: string
  /** One line, shown in lists. */
  readonly title: string
  /** When to use the tool and what it gives, for the agent. */
  readonly description: string
  readonly arguments: Arguments
  readonly attributes: Attributes
  /** Finds its element itself: that there is none is an answer. */
  readonly findsElement?: true
  /** True of arguments with which a tool that acts only looks, so that a pause does not hold the call. */
  onlyReads?(args: Static<Arguments>): boolean
  /**
   * Calls that unchecked arguments hold: each must be permitted where the tool is called. Such a tool ends by itself, with
   * a report, when the call is aborted.
   */
  nested?(args: unknown): readonly { readonly name: unknown; readonly args: unknown }[]
  run(call: Call, args: Static<Arguments>): Promise<Outcome>
}

/** Gives a declaration its types, and the arguments that follow from it: a token for an index, `observe` for an action. */
export const tool = <Arguments extends TObject>(declaration: Tool<Arguments>): Tool<Arguments> => {
  const { properties } = declaration.arguments
  const observes = !declaration.attributes.readOnly && 'window_id' in properties
  return {
    ...declaration,
    arguments: {
      ...declaration.arguments,
      properties: {
        ...properties,
        ...('element_index' in properties && { element_token: Type.Optional(elementToken) }),
        ...(observes && { observe: Type.Optional(observe) }),
      },
    },
  }
}

/** Attributes of a tool that only looks. */
export const reads = (...grants: Grant[]): Attributes => ({
  readOnly: true,
  destructive: false,
  idempotent: true,
  openWorld: false,
  pausable: false,
  recorded: false,
  extension: false,
  grants,
  writes: [],
})

/** Attributes of a tool that changes what the driver keeps and nothing on the screen; once more changes nothing more. */
export const arranges: Attributes = { ...reads(), readOnly: false }

/** Attributes of a tool that acts in a window as the person could. */
export const acts = (...grants: Grant[]): Attributes => ({
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
  pausable: true,
  recorded: true,
  extension: false,
  grants,
  writes: [],
})
