/** A recording as the commands read it: its turns with their files and their place in its film. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { names } from '@backlot/driver/recording/folder'
import { type RecordedAction, readTrajectory } from '@backlot/driver/recording/trajectory'

/** What action.json of our own recordings holds beyond what a replay reads. */
export interface ShownAction extends RecordedAction {
  readonly timestamp?: string
  readonly elapsed_ms?: number
  readonly video_ms?: number | null
  readonly duration_ms?: number
  readonly effect?: string | null
  readonly result_summary?: string
  readonly error?: { readonly code: string; readonly message: string }
}

/** One turn. */
export interface ShownTurn {
  readonly turn: string
  readonly folder: string
  readonly action: ShownAction
}

/** A recording. */
export interface Recorded {
  readonly folder: string
  readonly turns: readonly ShownTurn[]
  /** Path of its film, if it has one. */
  readonly film: string | undefined
}

/** Reads a recording. Throws `recording_not_found`. */
export const readRecording = (dir: string): Recorded => {
  const folder = resolve(dir)
  const turns = readTrajectory(folder).map(({ turn, action }) => ({ turn, folder: join(folder, turn), action }))
  const film = join(folder, names.film)
  return { folder, turns, film: existsSync(film) ? film : undefined }
}

/** A file of a turn, `undefined` where the turn has none of that name. */
export const fileOf = ({ folder }: ShownTurn, name: string): Buffer | undefined => {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path) : undefined
}
