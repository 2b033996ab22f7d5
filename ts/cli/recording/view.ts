/** A recording as one page that needs nothing but a browser. */
import { readFileSync, statSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { names } from '@backlot/driver/recording/folder'
import { captionOf } from './captions.ts'
import { fileOf, type Recorded, type ShownTurn } from './recorded.ts'
import page from './viewer.page.html' with { type: 'text' }

/** Bytes of a film up to which it stands in the page itself. */
const largestFilm = 48 * 1024 * 1024

/** The page; a film that is too large for it is found beside it, as `from` (the page's folder) sees it. */
export const viewOf = ({ folder, turns, film }: Recorded, from: string): string => {
  const data = {
    title: `Recording ${basename(folder)}`,
    about: about(turns),
    film: film === undefined ? null : filmFor(film, from),
    turns: turns.map(shown),
  }
  // A page's text must not end the element that holds it.
  const json = JSON.stringify(data).replaceAll('<', '\\u003c')
  return (page as unknown as string).replace('id="data">null<', () => `id="data">${json}<`)
}

const about = (turns: readonly ShownTurn[]): string => {
  const [first] = turns
  const failed = turns.filter(({ action }) => action.ok === false).length
  const when = (first?.action.timestamp ?? '').replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')
  return `${turns.length} turn${turns.length === 1 ? '' : 's'}${failed > 0 ? `, ${failed} failed` : ''}${when === '' ? '' : `, begun ${when}`}`
}

const filmFor = (film: string, from: string): string =>
  statSync(film).size <= largestFilm
    ? dataUri('video/mp4', readFileSync(film))
    : relative(from, film).split('/').map(encodeURIComponent).join('/')

const dataUri = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`

const shown = (turn: ShownTurn) => {
  const { action } = turn
  const picture = fileOf(turn, names.click) ?? fileOf(turn, names.screenshot)
  const { screenshot_missing: missing } = action as { readonly screenshot_missing?: string }
  const { locator, video_ms } = action
  const facts = {
    turn: turn.turn,
    tool: action.tool,
    when: action.timestamp,
    took: action.duration_ms === undefined ? undefined : `${action.duration_ms} ms`,
    effect: action.effect,
    window: action.window?.title,
    element: locator
      ? `${[...locator.path, locator].map(({ role, name }) => `${role}${name && ` "${name}"`}`).join(' › ')}`
      : undefined,
  }
  return {
    number: String(Number(turn.turn.replace(/\D/g, ''))),
    words: captionOf(action),
    ok: action.ok !== false,
    effect: action.effect ?? null,
    // The page has a mark of its own for what went well.
    summary: (action.result_summary ?? '').replace(/^✅ /, ''),
    facts: Object.entries(facts).flatMap(([name, value]) => (value ? [[name, String(value)]] : [])),
    picture: picture === undefined ? null : dataUri('image/png', picture),
    missing: missing ?? 'none was taken',
    arguments: JSON.stringify(action.arguments, null, 2),
    result: JSON.stringify(action.error ?? action.result ?? null, null, 2),
    tree: treeOf(turn),
    video_s: typeof video_ms === 'number' ? video_ms / 1_000 : null,
  }
}

const treeOf = (turn: ShownTurn): string => {
  try {
    const state = JSON.parse(fileOf(turn, names.state)?.toString() ?? '{}') as {
      tree_markdown?: string | null
      reason?: string
    }
    return state.tree_markdown ?? `none: ${state.reason ?? 'it was not read'}`
  } catch {
    return 'app_state.json cannot be read'
  }
}
