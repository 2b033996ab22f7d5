/** The cursors of the agents: each session has one, which goes where its actions happen. */
import { Failure } from '@backlot/contract/failure'
import { type Shared, shared } from '@backlot/contract/shared'
import type { CursorState, Cursors as Overlay, Point, PreviewPlace } from '@backlot/native'
import type { ActionContext } from '../action/evidence.ts'
import { reasonOf } from '../ending.ts'
import { type CursorSettings, cursorDefaults, paceOf, styleOf } from './cursor-settings.ts'
import { anonymous, type Session } from './sessions.ts'

type Native = typeof import('@backlot/native')

/** The name of the cursor of those who name none. */
export const defaultCursor = 'default'

/** How a cursor is shown: blended with what is below, cut out of it, or not at all and why. */
export type OverlayKind = 'composited' | 'shaped' | 'off' | 'unavailable'

/** A cursor as the tools tell of it. */
export interface CursorView {
  readonly cursor_id: string
  /** In screen points; null before it was anywhere. */
  readonly position: Point | null
  readonly enabled: boolean
  /** Whether it is on the screen now: hidden ones and idle ones are not. */
  readonly visible: boolean
  readonly overlay: OverlayKind
  /** False where no font has the letters of its label. */
  readonly labelled: boolean
  readonly settings: CursorSettings
}

/** What a cursor is set to. */
export type CursorConfig = Pick<CursorView, 'cursor_id' | 'enabled' | 'settings'>

/** What a cursor did where the person saw it. */
export interface CursorEvent {
  readonly at: Date
  /** Of the session that the cursor belongs to. */
  readonly key: string
  readonly session: string | null
  readonly cursor_id: string
  /**
   * Set out for a place, went there with a drag, was put there, pulsed, was taken from the screen or hid there by itself,
   * or came back there after it had hidden so.
   */
  readonly kind: 'glide' | 'drag' | 'place' | 'pulse' | 'hide' | 'show'
  /** In screen points; of a glide and a drag, where it goes. */
  readonly x: number
  readonly y: number
}

interface CursorRecord {
  readonly key: string
  readonly name: string | null
  readonly cursorId: string
  settings: CursorSettings
  isEnabled: boolean
  /** After a click on pixels or a move it glides to elements too. */
  glides: boolean
  /** Where it was sent last. */
  position: Point | undefined
  /** The overlay's connection that knows it as it is set. */
  styledOn: Overlay | undefined
  /** Where it hid by itself. */
  idle: Point | undefined
  /** When something of it was told last. */
  reportedAt: number
}

/** Milliseconds of one wait for cursors that hide by themselves; the next follows at once. */
const hiddenWaitMs = 30_000

/** All cursors of a driver, by the session that each belongs to. */
export class Cursors {
  readonly #records = new Map<string, CursorRecord>()
  readonly #overlay: Shared<Overlay>
  readonly #followers = new Set<(event: CursorEvent) => void>()
  /** The overlay's connection whose cursors are known to hide. */
  #watchedOverlay: Overlay | undefined
  /** Why there is no overlay, as it was when that was tried last. */
  #unavailable: Failure | undefined
  /** How often cursors were asked for that nobody has used. */
  #asked = 0

  constructor(
    private readonly native: () => Promise<Native>,
    open: () => Promise<Overlay>,
    /** False: nothing is ever shown, and the tools answer all the same. */
    private readonly isShown: boolean,
    /** Where the live preview is; `undefined` where there is none. */
    private readonly preview: () => Promise<PreviewPlace | undefined>,
  ) {
    this.#overlay = shared(open)
  }

  /** Tells what cursors do from now on, until the function that it returns is called. */
  follow(listener: (event: CursorEvent) => void): () => void {
    this.#followers.add(listener)
    return () => this.#followers.delete(listener)
  }

  /** Goes to where an action will happen, and is there when it does; does nothing for a caller without a cursor. */
  async goTo(owner: Session, context: ActionContext): Promise<void> {
    this.#preview(context).catch(() => undefined)
    const at = placeOf(context)
    if (at === undefined || !this.#follows(owner)) return
    const record = await this.#of(owner)
    if (context.point !== undefined || context.cursorPoint !== undefined) record.glides = true
    const isGlide = record.glides && record.isEnabled
    record.position = at
    // An action is not worth less for being unseen.
    await this.#show(record, (overlay) => this.#go(record, overlay, isGlide ? 'glide' : 'place', at)).catch(
      () => undefined,
    )
    // The session may have ended on the way.
    if (owner.signal.aborted) await this.end(owner)
  }

  /** Goes along with a gesture that takes its time from now on; nobody waits for it. */
  followDrag(owner: Session, context: ActionContext, durationMs: number): void {
    const record = this.#records.get(owner.key)
    const end = context.dragEnd && onScreen(context, context.dragEnd)
    if (record === undefined || end === undefined || !this.#follows(owner)) return
    const travel = async (overlay: Overlay): Promise<void> => {
      this.#tell(record, 'pulse')
      await overlay.pulse(record.key)
      this.#tell(record, 'drag', end)
      record.position = end
      await overlay.travel(record.key, end, durationMs)
    }
    this.#show(record, travel).catch(() => undefined)
  }

  /** Shows that the action happened; nobody waits for it. */
  showAction(owner: Session, context: ActionContext): void {
    const record = this.#records.get(owner.key)
    if (record === undefined || placeOf(context) === undefined || !this.#follows(owner)) return
    const end = context.dragEnd && onScreen(context, context.dragEnd)
    if (end !== undefined) record.position = end
    const pulse = async (overlay: Overlay): Promise<void> => {
      // It came along, and may have a pixel to go.
      if (end !== undefined) await overlay.place(record.key, end)
      this.#tell(record, 'pulse')
      await overlay.pulse(record.key)
    }
    this.#show(record, pulse).catch(() => undefined)
  }

  /** Moves a session's cursor; resolves once it is there. */
  async move(owner: Session, to: Point): Promise<CursorView> {
    const record = await this.#of(owner)
    record.glides = true
    record.position = to
    await this.#show(record, (overlay) => this.#go(record, overlay, record.isEnabled ? 'glide' : 'place', to))
    return this.#viewNow(owner)
  }

  /** Changes what is set; where that cannot be shown nothing has changed. */
  async set(owner: Session, changes: Partial<CursorSettings>): Promise<CursorView> {
    const record = await this.#of(owner)
    const before = record.settings
    record.settings = { ...before, ...changes }
    record.styledOn = undefined
    try {
      await this.#show(record, async () => undefined)
    } catch (error) {
      record.settings = before
      record.styledOn = undefined
      throw error
    }
    return this.#viewNow(owner)
  }

  /** Shows or hides a session's cursor until it is told otherwise. */
  async enable(owner: Session, isEnabled: boolean): Promise<CursorView> {
    const record = await this.#of(owner)
    const isTold = record.styledOn !== undefined && record.isEnabled !== isEnabled
    if (isTold && !isEnabled) this.#tell(record, 'hide')
    record.isEnabled = isEnabled
    if (isTold && isEnabled) this.#tell(record, 'place')
    await this.#show(record, (overlay) => overlay.enable(record.key, isEnabled))
    return this.#viewNow(owner)
  }

  /** A session's cursor as it is now, or as it would begin: asking makes none. */
  async view(owner: Session): Promise<CursorView> {
    if (this.#records.has(owner.key)) return this.#viewNow(owner)
    const fresh = await this.#fresh(owner)
    let state: CursorState | null = null
    this.#asked += 1
    const id = `unused ${this.#asked} ${owner.key}`
    await this.#show(undefined, async (overlay) => {
      // How the overlay shows a cursor is known of a cursor alone.
      await overlay.setStyle(id, styleOf(fresh.settings))
      state = (await overlay.state(id).finally(() => overlay.remove(id))) ?? null
    })
    return viewOf(fresh, state, this.isShown)
  }

  /** What each cursor is set to, in the order of their beginning. */
  get configs(): readonly CursorConfig[] {
    return [...this.#records.values()].map(({ cursorId, isEnabled, settings }) => ({
      cursor_id: cursorId,
      enabled: isEnabled,
      settings,
    }))
  }

  /** The windows of the cursors that are seen now, which pictures for agents leave out. */
  async windows(): Promise<number[]> {
    return (await this.#overlay.peek())?.windows().catch(() => []) ?? []
  }

  /** Takes away the cursor of a session that is over. */
  async end({ key }: Pick<Session, 'key'>): Promise<void> {
    const record = this.#records.get(key)
    if (record?.styledOn !== undefined) this.#tell(record, 'hide')
    this.#records.delete(key)
    await (await this.#overlay.peek())?.remove(key).catch(() => undefined)
  }

  /** Takes all from the screen; they come back with their next action. */
  async close(): Promise<void> {
    await this.#overlay.close()
  }

  /** Whether actions of this session show a cursor: a named one's, and those of a connection that used a cursor's tool. */
  #follows({ key, name, signal }: Session): boolean {
    return !signal.aborted && (name !== null || (key !== anonymous && this.#records.has(key)))
  }

  async #viewNow(owner: Session): Promise<CursorView> {
    const record = await this.#of(owner)
    let state: CursorState | null = null
    await this.#show(record, async (overlay) => {
      state = (await overlay.state(record.key)) ?? null
    })
    return viewOf(record, state, this.isShown)
  }

  /** Throws `session_ended` where it is over: what its late calls still want must not make another. */
  async #of(owner: Session): Promise<CursorRecord> {
    const { key, signal } = owner
    const known = this.#records.get(key)
    if (known !== undefined && !signal.aborted) return known
    const fresh = await this.#fresh(owner)
    const meanwhile = this.#records.get(key)
    if (meanwhile !== undefined) return meanwhile
    this.#records.set(key, fresh)
    return fresh
  }

  /** The cursor that a session begins with. Throws `session_ended`. */
  async #fresh({ key, name, signal }: Session): Promise<CursorRecord> {
    const cursorId = name ?? defaultCursor
    const color = (await this.native()).colorOf(cursorId)
    if (signal.aborted) throw reasonOf(signal)
    return {
      key,
      name,
      cursorId,
      settings: { ...cursorDefaults, color },
      isEnabled: true,
      glides: false,
      position: undefined,
      styledOn: undefined,
      idle: undefined,
      reportedAt: 0,
    }
  }

  async #go(record: CursorRecord, overlay: Overlay, kind: 'glide' | 'place', to: Point): Promise<void> {
    if (this.#records.get(record.key) !== record) return
    this.#tell(record, kind, to)
    await overlay[kind](record.key, to)
  }

  /** What the person does not see, as that of a session that is over, is not told. */
  #tell(record: CursorRecord, kind: CursorEvent['kind'], place = record.position, at = new Date()): void {
    const { key, name: session, cursorId: cursor_id, isEnabled, idle } = record
    if (place === undefined || !isEnabled || this.#records.get(key) !== record) return
    if (idle !== undefined && kind === 'hide') return
    record.idle = undefined
    record.reportedAt = at.getTime()
    const tell = (each: CursorEvent['kind'], { x, y }: Point) => {
      for (const follower of this.#followers) follower({ at, key, session, cursor_id, kind: each, x, y })
    }
    // It sets out from where it hid, unless it is put elsewhere.
    if (idle !== undefined) tell('show', kind === 'place' ? place : idle)
    tell(kind, place)
  }

  /** Tells which cursors hide by themselves, as long as that overlay is there. */
  async #watchHidden(overlay: Overlay): Promise<void> {
    this.#watchedOverlay = overlay
    try {
      for (;;) for (const { id, at } of await overlay.hidden(hiddenWaitMs)) this.#hidByItself(id, at)
    } catch {
      // It was closed or lost; the next one is attended to when it is opened.
    }
  }

  #hidByItself(key: string, at: number): void {
    const record = this.#records.get(key)
    // What was told since brought it back.
    if (record === undefined || record.reportedAt > at) return
    this.#tell(record, 'hide', record.position, new Date(at))
    record.idle = record.position
  }

  /** Does something to a cursor on the screen, where there is an overlay. */
  async #show(record: CursorRecord | undefined, work: (overlay: Overlay) => Promise<unknown>): Promise<void> {
    if (!this.isShown) return
    const overlay = await this.#open()
    if (overlay === undefined) return
    try {
      if (record !== undefined && record.styledOn !== overlay) await this.#applyStyle(record, overlay)
      await work(overlay)
    } catch (error) {
      // It is opened again by whoever needs it next.
      if (Failure.from(error).code === 'display_lost') await this.#overlay.close()
      throw error
    }
  }

  /** Shows the window of an action in the live preview. */
  async #preview({ window }: ActionContext): Promise<void> {
    const place = await this.preview()
    if (place !== undefined) await this.#show(undefined, (overlay) => overlay.preview(window.window_id, place))
  }

  async #applyStyle(record: CursorRecord, overlay: Overlay): Promise<void> {
    const { settings } = record
    await overlay.setStyle(record.key, styleOf(settings))
    await overlay.setPace(record.key, paceOf(settings))
    await overlay.enable(record.key, record.isEnabled)
    if (record.settings === settings) record.styledOn = overlay
    // Its session may have ended meanwhile.
    if (this.#records.get(record.key) !== record) await overlay.remove(record.key)
  }

  /** The overlay; where the server has none, the cursors go on without. */
  async #open(): Promise<Overlay | undefined> {
    if (this.#unavailable !== undefined) return undefined
    try {
      const overlay = await this.#overlay.get()
      if (this.#watchedOverlay !== overlay) void this.#watchHidden(overlay)
      return overlay
    } catch (error) {
      const failure = Failure.from(error)
      if (failure.code !== 'overlay_unavailable') throw failure
      this.#unavailable = failure
      return undefined
    }
  }
}

const viewOf = (record: CursorRecord, state: CursorState | null, isShown: boolean): CursorView => ({
  cursor_id: record.cursorId,
  position: state?.position ?? record.position ?? null,
  enabled: record.isEnabled,
  visible: state?.visible ?? false,
  overlay: state !== null ? (state.composited ? 'composited' : 'shaped') : isShown ? 'unavailable' : 'off',
  labelled: state?.labelled ?? false,
  settings: record.settings,
})

/** Where on the screen an action happens; `undefined` where it has no place. */
const placeOf = (context: ActionContext): Point | undefined => {
  const { point, cursorPoint, place, target } = context
  const exact = point ?? cursorPoint
  if (exact !== undefined) return onScreen(context, exact)
  const frame = target?.element.frame
  const around = frame === undefined ? place : { x: frame.x, y: frame.y, width: frame.w, height: frame.h }
  if (around === undefined || around.width <= 0 || around.height <= 0) return undefined
  return onScreen(context, { x: around.x + around.width / 2, y: around.y + around.height / 2 })
}

const onScreen = ({ window }: ActionContext, { x, y }: Point): Point | undefined =>
  window.x === null || window.y === null ? undefined : { x: Math.floor(window.x + x), y: Math.floor(window.y + y) }
