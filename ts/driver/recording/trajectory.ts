/** A recorded trajectory, read back from its folder. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { isTurn, names } from './folder.ts'
import type { Locator } from './locator.ts'
import type { windowFacts } from './turn.ts'

/** What action.json says, as far as it is read; files may be older, newer or written by hand. */
export interface RecordedAction {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** False for a call that failed. */
  readonly ok?: boolean
  readonly result?: Readonly<Record<string, unknown>> | null
  /** Arguments that held a secret. */
  readonly secret_arguments?: readonly string[]
  readonly window?: Partial<ReturnType<typeof windowFacts>> | null
  readonly locator?: Locator | null
  /** Picture pixels per window pixel when it was called. */
  readonly scale?: number
  readonly pid?: number | null
}

/** One turn. */
export interface RecordedTurn {
  /** Name of its folder. */
  readonly turn: string
  readonly action: RecordedAction
}

/** The turns of a folder in lexical order. Throws `recording_not_found`. */
export const readTrajectory = (folder: string): readonly RecordedTurn[] => {
  const turns = turnsIn(folder)
  if (turns.length === 0) throw notFound(folder, 'holds no turn-00001')
  return turns.map((turn) => ({ turn, action: readAction(join(folder, turn, names.action)) }))
}

const turnsIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).filter(isTurn).sort()
  } catch (error) {
    throw notFound(folder, `cannot be read (${Failure.from(error).message})`)
  }
}

const readAction = (path: string): RecordedAction => {
  let action: unknown
  try {
    action = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw notFound(path, `cannot be read (${Failure.from(error).message})`)
  }
  const { tool, arguments: args } = (action ?? {}) as Partial<RecordedAction>
  if (typeof tool === 'string' && typeof args === 'object' && args !== null) return action as RecordedAction
  throw notFound(path, 'names no tool and its arguments')
}

const notFound = (path: string, what: string): Failure =>
  new Failure(
    'recording_not_found',
    `"${path}" ${what}. Name the output_dir of a recording that was started with start_recording.`,
    { path },
  )
