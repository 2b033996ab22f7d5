/** One window: its accessibility tree and its picture. */

import { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import { longestTimeoutMs, tree as treeLimits } from '@backlot/contract/limits'
import type { AxSnapshot, Picture, Window } from '@backlot/native'
import { Type } from '@sinclair/typebox'
import { windowOf } from '../action/target.ts'
import { captureModes } from '../config/config.ts'
import { type Call, viewersOf } from '../context.ts'
import type { TreeLimits } from '../observation/elements.ts'
import { changesSince, hasShortTags } from '../observation/observe.ts'
import { defaultLimits, readTree } from '../observation/trees.ts'
import { absolutePath, writePicture } from '../paths.ts'
import { pid, windowId } from '../tool/arguments.ts'
import { type Outcome, reads, tool } from '../tool/tool.ts'

export const getWindowState = tool({
  name: 'get_window_state',
  title: 'Read a window',
  description:
    "A window's elements as a Markdown tree tagged [element_index N], and its screenshot. Call once per turn before acting on elements; earlier indexes are void.",
  arguments: Type.Object({
    pid,
    window_id: windowId,
    capture_mode: Type.Optional(
      choice(captureModes, { description: 'som: tree and screenshot (default); vision: screenshot; ax: tree.' }),
    ),
    query: Type.Optional(
      Type.String({ description: 'Keep lines with this text, in view or not, and their ancestors.' }),
    ),
    since: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'A snapshot_id: return only what changed since; indexes stay.',
        extension: true,
      }),
    ),
    screenshot_out_file: Type.Optional(
      Type.String({ minLength: 1, description: 'Write the PNG to this path instead of returning it.' }),
    ),
    include_offscreen: Type.Optional(
      Type.Boolean({ description: 'List what is scrolled out of view too.', extension: true }),
    ),
    max_elements: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, default: treeLimits.maxElements, extension: true }),
    ),
    max_depth: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, default: treeLimits.maxDepth, extension: true }),
    ),
    include_screenshot: Type.Optional(Type.Boolean({ description: 'Overrides capture_mode.', extension: true })),
    timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: longestTimeoutMs,
        default: treeLimits.timeoutMs,
        more: 'For the tree.',
        extension: true,
      }),
    ),
  }),
  attributes: { ...reads('accessibility', 'screen_recording'), writes: ['screenshot_out_file'] },
  async run(call, args) {
    const path = args.screenshot_out_file && absolutePath('screenshot_out_file', args.screenshot_out_file)
    const config = await call.config()
    const mode = args.capture_mode ?? config.capture_mode
    const wants = { tree: mode !== 'vision', picture: args.include_screenshot ?? (mode !== 'ax' || path !== undefined) }
    refuseContradictions(wants, args)
    const window = await windowOf(call, args.pid, args.window_id)
    const limits = {
      max_elements: args.max_elements ?? defaultLimits.max_elements,
      max_depth: args.max_depth ?? defaultLimits.max_depth,
      timeout_ms: args.timeout_ms ?? defaultLimits.timeout_ms,
      // What changed is told of as much as was told before.
      offscreen: args.include_offscreen ?? (args.query !== undefined || isWhole(call, window, args.since)),
      ...(args.query !== undefined && { cell: args.query }),
    }
    const [tree, picture] = await Promise.all([
      part(wants.tree, () => readTree(call, window, limits)),
      part(wants.picture, async () =>
        (await call.driver.capturer()).window(window.window_id, config.max_image_dimension),
      ),
    ])
    const [failure] = [tree, picture].flatMap((each) => (each instanceof Failure ? [each] : []))
    if (failure !== undefined && !isThere(tree) && !isThere(picture)) throw failure
    const snapshot = await describeTree(call, window, tree, limits, args)
    const shown = await describePicture(call, window, picture, path)
    return {
      text: [
        `window_id=${window.window_id} pid=${window.pid} size=${window.width}x${window.height} elements=${snapshot.elements}`,
        ...shown.notes,
        ...snapshot.lines,
      ].join('\n'),
      structured: {
        window_id: window.window_id,
        pid: window.pid,
        element_count: snapshot.elements,
        ...snapshot.structured,
        ...shown.structured,
      },
      ...(shown.image && { image: shown.image }),
    }
  },
})

const refuseContradictions = (
  wants: { readonly tree: boolean; readonly picture: boolean },
  { since, query }: { readonly since?: string; readonly query?: string },
): void => {
  if (!wants.tree && !wants.picture) {
    const text = 'capture_mode "vision" with include_screenshot false asks for nothing. Leave one of them out.'
    throw new Failure('invalid_argument', text, { argument: 'include_screenshot' })
  }
  if (since !== undefined && query !== undefined) {
    const text = 'query needs the whole tree, and since leaves most of it out. Pass one of them.'
    throw new Failure('invalid_argument', text, { argument: 'query' })
  }
}

/** True when the snapshot of that id holds what is out of view. */
const isWhole = (call: Call, { pid, window_id }: Window, since: string | undefined): boolean =>
  since !== undefined &&
  call.driver.windowCache.returnedSnapshot(pid, window_id, since)?.snapshot.offscreen.listed === true

/** How many elements and texts are out of view, and whether the tree lists them. */
const offscreenOf = ({ offscreen: { above, below, texts, at_least, listed } }: AxSnapshot) => ({
  elements: above + below,
  above,
  below,
  texts,
  at_least,
  listed,
})

/** The line that says so. */
const beyondView = (tree: AxSnapshot): string[] => {
  const { elements, above, below, texts, at_least, listed } = offscreenOf(tree)
  // Where nothing was counted, `partial` says what is left out.
  if (elements + texts === 0) return []
  const all = [
    ...(above > 0 ? [`${above} more above`] : []),
    ...(below > 0 ? [`${below} more below`] : []),
    ...(texts > 0 ? [`${texts} text(s) out of view`] : []),
  ].join(', ')
  const counts = at_least ? `at least ${all}` : all
  return [
    listed
      ? `out of view: ${counts}, tagged [offscreen]`
      : `${counts}: query finds them${at_least ? '' : ', include_offscreen: true lists them'}`,
  ]
}

type Part<T> = T | Failure | undefined

const isThere = <T>(part: Part<T>): part is T => part !== undefined && !(part instanceof Failure)

/** One half of the state, or why it is not to be had: the other half is worth having without it. */
const part = async <T>(wanted: boolean, make: () => Promise<T>): Promise<Part<T>> => {
  if (!wanted) return undefined
  try {
    return await make()
  } catch (error) {
    const failure = Failure.from(error)
    if (failure.code === 'display_lost' || failure.code === 'internal') throw failure
    return failure
  }
}

const describeTree = async (
  call: Call,
  window: Window,
  tree: Part<AxSnapshot>,
  limits: TreeLimits,
  { query, since }: { query?: string; since?: string },
) => {
  if (tree === undefined) return { elements: 0, lines: [], structured: {} }
  if (tree instanceof Failure) {
    const reason = tree.message
    return { elements: 0, lines: [`accessibility: ${reason}`], structured: { accessibility: reason } }
  }
  const partial = [...(tree.partial === null ? [] : [`partial: ${tree.partial}`]), ...beyondView(tree)]
  const offscreen = offscreenOf(tree)
  const changes = since === undefined ? undefined : await changesSince(call, window, tree, limits, since)
  if (changes !== undefined) {
    const { snapshot, facts, lines } = changes
    const structured = { partial: tree.partial, offscreen, ...facts }
    return { elements: snapshot.element_count, lines: [...partial, ...lines], structured }
  }
  const markdown = tree.markdown(query ?? null, await hasShortTags(call))
  const empty = query === undefined ? 'The tree is empty.' : `No line holds "${query}".`
  const unknown = since === undefined ? [] : [`since: there is no snapshot "${since}" any more; this is the whole tree`]
  return {
    elements: tree.element_count,
    lines: [...partial, ...unknown, '', markdown === '' ? empty : markdown],
    structured: {
      tree_markdown: markdown,
      snapshot_id: call.driver.windowCache.keepSnapshot(window.pid, window.window_id, tree, limits),
      ...(since !== undefined && { since: null }),
      partial: tree.partial,
      offscreen,
      elements: JSON.parse(tree.elements(query ?? null)),
    },
  }
}

const describePicture = async (
  call: Call,
  window: Window,
  picture: Part<Picture>,
  path: string | undefined,
): Promise<{ notes: string[]; structured: Record<string, unknown>; image?: NonNullable<Outcome['image']> }> => {
  if (picture === undefined) return { notes: [], structured: {} }
  if (picture instanceof Failure) {
    const reason = picture.message
    return { notes: [`screenshot: ${reason}`], structured: { screenshot: reason } }
  }
  const { png, width, height, scale, stale } = picture
  if (path !== undefined) await writePicture(path, png)
  call.driver.windowCache.keepScale(window.pid, window.window_id, viewersOf(call), scale)
  const file = path === undefined ? '' : ` in ${path}`
  const old = stale ? ', stale: the window is minimised or has not drawn what was covered' : ''
  return {
    notes: [`screenshot: ${width}x${height} scale ${scale}${file}${old}`],
    structured: {
      screenshot_width: width,
      screenshot_height: height,
      screenshot_mime_type: 'image/png',
      ...(path !== undefined && { screenshot_file_path: path }),
      screenshot_stale: stale,
      scale,
    },
    ...(path === undefined && { image: { bytes: png, mimeType: 'image/png' as const } }),
  }
}
