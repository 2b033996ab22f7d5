/** What a recording left in its folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './until.ts'

/** action.json, as far as tests use it. */
export interface Action {
  readonly turn: number
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly ok: boolean
  readonly result_summary: string
  readonly effect: string | null
  readonly result: Readonly<Record<string, unknown>> | null
  readonly pid: number | null
  readonly click_point: { readonly x: number; readonly y: number; readonly window_id: number } | null
  readonly timestamp: string
  readonly duration_ms: number
  readonly session: string | null
  readonly locator: { readonly role: string; readonly name: string; readonly path: readonly object[] } | null
  readonly secret_arguments?: readonly string[]
}

/** Names of the turns, in order. */
export const turnsIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.startsWith('turn-'))
        .sort()
    : []

/** Waits for a turn, which has all its files when it is there. */
export const turnIn = async (folder: string, turn: number) => {
  const path = join(folder, `turn-${String(turn).padStart(5, '0')}`)
  await until(`turn ${turn}`, () => existsSync(path))
  return {
    files: readdirSync(path).sort(),
    action: JSON.parse(readFileSync(join(path, 'action.json'), 'utf8')) as Action,
    state: JSON.parse(readFileSync(join(path, 'app_state.json'), 'utf8')) as {
      readonly pid: number
      readonly tree_markdown: string
    },
    read: (name: string) => readFileSync(join(path, name)),
  }
}

/** session.json. */
export const sessionIn = (folder: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(folder, 'session.json'), 'utf8'))

/** Every file under a folder, in one text. */
export const textOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
