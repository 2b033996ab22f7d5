/** A screen that a VNC server shows, with its keyboard and pointer. */
import RFB from '@novnc/novnc'
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** What a page says of the screen that it shows. */
export interface ScreenProps {
  /** Address of the WebSocket that is joined with the screen. */
  readonly url: string
  readonly password: string
  /** What is said where the password is refused. */
  readonly refused: string
  /** Whether one only looks: no key and no click is sent. */
  readonly viewOnly?: boolean
}

/** Milliseconds after which a screen that went away is looked for again. */
const tryAgainMs = 1_000

/** The keys that take the keyboard back from the screen: nothing else reaches the page while the screen has the focus. */
const isRelease = (event: KeyboardEvent): boolean => event.ctrlKey && event.altKey && event.code === 'KeyG'

/** Keys that were pressed on the way there, which the screen would never see released. */
const modifiers = { ControlLeft: 0xffe3, ControlRight: 0xffe4, AltLeft: 0xffe9, AltRight: 0xffea } as const

type State = 'joining' | 'shown' | 'lost' | 'refused'

/** Joins the screen in a frame, and again when the connection breaks. */
const useConnection = (frame: RefObject<HTMLDivElement | null>, { url, password, viewOnly = false }: ScreenProps) => {
  const connection = useRef<RFB | undefined>(undefined)
  const [attempt, setAttempt] = useState(0)
  const [state, setState] = useState<State>('joining')
  useEffect(() => {
    if (frame.current === null) return
    const rfb = new RFB(frame.current, url, { credentials: { password }, shared: true })
    let again: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    rfb.scaleViewport = true
    rfb.viewOnly = viewOnly
    rfb.background = 'transparent'
    connection.current = rfb
    rfb.addEventListener('connect', () => setState('shown'))
    rfb.addEventListener('securityfailure', () => setState('refused'))
    rfb.addEventListener('disconnect', () => {
      if (isOver) return
      setState((before) => (before === 'refused' ? before : 'lost'))
      again = setTimeout(() => setAttempt((count) => count + 1), tryAgainMs)
    })
    return () => {
      isOver = true
      clearTimeout(again)
      rfb.disconnect()
    }
  }, [frame, url, password, viewOnly, attempt])
  return { connection, state }
}

/** The screen. */
const Screen = (props: ScreenProps) => {
  const { refused, viewOnly = false } = props
  const frame = useRef<HTMLDivElement>(null)
  const release = useRef<HTMLButtonElement>(null)
  const { connection, state } = useConnection(frame, props)
  useEffect(() => {
    const { current } = frame
    const catchRelease = (event: KeyboardEvent) => {
      if (!isRelease(event)) return
      event.preventDefault()
      event.stopPropagation()
      for (const [code, keysym] of Object.entries(modifiers)) connection.current?.sendKey(keysym, code, false)
      connection.current?.blur()
      release.current?.focus()
    }
    current?.addEventListener('keydown', catchRelease, true)
    return () => current?.removeEventListener('keydown', catchRelease, true)
  }, [connection])
  return (
    <section class="screen" aria-label="Screen" data-state={state}>
      <div class="canvas" ref={frame}>
        {state !== 'shown' && <p role="status">{state === 'refused' ? refused : words[state]}</p>}
      </div>
      <div class="buttons">
        {!viewOnly && (
          <>
            <button
              type="button"
              ref={release}
              onClick={() => connection.current?.focus()}
              disabled={state !== 'shown'}
            >
              Use keyboard
            </button>
            <button type="button" onClick={() => connection.current?.sendCtrlAltDel()} disabled={state !== 'shown'}>
              Send Ctrl+Alt+Del
            </button>
          </>
        )}
        <button type="button" onClick={() => void frame.current?.requestFullscreen()}>
          Full screen
        </button>
        {!viewOnly && <small>Ctrl+Alt+G gives the keyboard back to this page.</small>}
      </div>
    </section>
  )
}

const words = {
  joining: 'Joining the screen…',
  lost: 'The screen went away; looking for it again…',
} as const

export default Screen
