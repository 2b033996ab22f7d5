/** One cell of the matrix: an action on a toolkit in the background, judged by the application and a second X client. */
import { NoElement } from '../look.ts'
import type { McpClient, Result } from '../mcp-client.ts'
import type { Person } from '../person.ts'
import { until } from '../until.ts'
import type { Action } from './actions.ts'
import type { Scene } from './scene.ts'

/** What came of an action. */
export type Cell =
  | { readonly outcome: 'arrived'; readonly effect: string }
  /** What the action needs, the toolkit does not have. */
  | { readonly outcome: 'absent' }
  /** Nothing arrived, and the answer says so. */
  | { readonly outcome: 'refused'; readonly code: string; readonly message: string }
  /** Something is wrong: it did not arrive though the answer says so, or the person noticed. */
  | { readonly outcome: 'wrong'; readonly why: string }

/** Most cells that wait in vain are refusals in disguise: a few seconds tell them. */
const patienceMs = 5_000

const attempt = async (run: () => Promise<Result>): Promise<Result | NoElement> => {
  try {
    return await run()
  } catch (error) {
    if (error instanceof NoElement) return error
    throw error
  }
}

/** Runs one action; `tolerated` events may reach the person's window. */
export const cellOf = async (
  client: McpClient,
  scene: Scene,
  person: Person,
  action: Action,
  tolerated: readonly string[] = [],
): Promise<Cell> => {
  if (!action.fits(scene)) return { outcome: 'absent' }
  const mark = scene.journal.mark()
  const arrived = () => action.arrived(scene.witness(scene.journal.entries(mark)))
  try {
    return await person.undisturbed(async (): Promise<Cell> => {
      const result = await attempt(() => action.run(client, scene))
      if (result instanceof NoElement) return { outcome: 'refused', code: 'no_elements', message: result.message }
      if (result.isError) {
        const code = String(result.structured.code)
        if (arrived()) return { outcome: 'wrong', why: `refused with ${code}, and arrived all the same` }
        return { outcome: 'refused', code, message: result.text }
      }
      const came = await until('the application to see it', arrived, patienceMs).catch(() => false)
      if (came) return { outcome: 'arrived', effect: String(result.structured.effect) }
      const seen = JSON.stringify(scene.journal.entries(mark).slice(-6))
      return { outcome: 'wrong', why: `answered "${result.text}", but the application saw only ${seen}` }
    }, tolerated)
  } catch (error) {
    return { outcome: 'wrong', why: `the person noticed: ${(error as Error).message.slice(0, 600)}` }
  }
}
