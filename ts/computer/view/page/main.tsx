/** The live view: the screen of the computer, to look at, and to take over. */
import RFB from '@novnc/novnc'
import { render } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Control, socketAddress, ViewChannel } from './channel.ts'
import { FilmView } from './film.tsx'

/** Milliseconds after which a screen that went away is looked for again. */
const tryAgainMs = 1_000

const nobody: Control = { mine: false, taken: false }

/** This page only looks on: the server gives it no more. */
const isViewOnly = new URL(location.href).searchParams.get('view_only') === 'true'

const View = () => {
  const frame = useRef<HTMLDivElement>(null)
  const channel = useRef<ViewChannel | undefined>(undefined)
  const screen = useRef<RFB | undefined>(undefined)
  const [attempt, setAttempt] = useState(0)
  const [isShown, setShown] = useState(false)
  const [control, setControl] = useState<Control>(nobody)
  /** The screen of the computer takes the size of this window, which programs that act may not expect. */
  const [isFitted, setFitted] = useState(false)
  const [clipboard, setClipboard] = useState<string | undefined>(undefined)
  useEffect(() => {
    if (frame.current === null) return
    const joined = new ViewChannel(
      socketAddress(isViewOnly ? '/view/screen?view_only=true' : '/view/screen'),
      setControl,
    )
    const rfb = new RFB(frame.current, joined as unknown as WebSocket, { shared: true })
    let again: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    rfb.viewOnly = true
    rfb.scaleViewport = true
    rfb.background = 'transparent'
    channel.current = joined
    screen.current = rfb
    rfb.addEventListener('connect', () => setShown(true))
    rfb.addEventListener('clipboard', (event) => {
      const { text } = (event as CustomEvent<{ text: string }>).detail
      setClipboard((shown) => (shown === undefined ? undefined : text))
    })
    rfb.addEventListener('disconnect', () => {
      setShown(false)
      setControl(nobody)
      if (!isOver) again = setTimeout(() => setAttempt((count) => count + 1), tryAgainMs)
    })
    // A page that the browser keeps to come back to holds nothing meanwhile.
    const leave = () => joined.close()
    addEventListener('pagehide', leave)
    return () => {
      isOver = true
      clearTimeout(again)
      removeEventListener('pagehide', leave)
      rfb.disconnect()
    }
  }, [attempt])
  // Who is told that they act can act.
  useLayoutEffect(() => {
    const { current } = screen
    if (current === undefined) return
    current.viewOnly = !control.mine
    current.resizeSession = control.mine && isFitted
    if (control.mine) current.focus()
  }, [control.mine, isFitted, isShown])
  const words = !isShown
    ? 'Looking for the screen…'
    : control.mine
      ? 'You act; programs that act are halted until you let go.'
      : control.taken
        ? 'Somebody else acts.'
        : 'You look on.'
  return (
    <div class="view" data-control={control.mine ? 'mine' : control.taken ? 'taken' : 'none'} data-shown={isShown}>
      <div class="bar">
        <h1>Live view</h1>
        <span role="status">{words}</span>
        {!isViewOnly && (
          <>
            {control.mine ? (
              <button type="button" onClick={() => channel.current?.ask('release')}>
                Let go
              </button>
            ) : (
              <button type="button" class="take" disabled={!isShown} onClick={() => channel.current?.ask('take_over')}>
                Take over
              </button>
            )}
            <button
              type="button"
              disabled={!control.mine}
              onClick={() => {
                setClipboard((shown) => (shown === undefined ? '' : undefined))
                if (clipboard === undefined) channel.current?.askForClipboard()
              }}
            >
              Clipboard
            </button>
            <button
              type="button"
              disabled={!control.mine}
              aria-pressed={isFitted}
              onClick={() => setFitted((before) => !before)}
            >
              Resize the screen
            </button>
            <button type="button" disabled={!control.mine} onClick={() => screen.current?.sendCtrlAltDel()}>
              Ctrl+Alt+Del
            </button>
          </>
        )}
        <button type="button" onClick={() => void frame.current?.requestFullscreen()}>
          Full screen
        </button>
      </div>
      {clipboard !== undefined && control.mine && (
        <div class="clipboard">
          <textarea
            aria-label="Clipboard of the computer"
            value={clipboard}
            onInput={(event) => setClipboard(event.currentTarget.value)}
          />
          <button type="button" onClick={() => screen.current?.clipboardPasteFrom(clipboard)}>
            Send
          </button>
        </div>
      )}
      <div class="screen" ref={frame} />
    </div>
  )
}

/** The screen where there is one, else the film, which `?film` shows in any case. */
const Choice = () => {
  const wantsFilm = new URL(location.href).searchParams.has('film')
  const [features, setFeatures] = useState<readonly string[]>([])
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    let again: ReturnType<typeof setTimeout> | undefined
    const ask = async () => ((await (await fetch('/status')).json()) as { features: readonly string[] }).features
    void ask()
      .catch(() => [])
      .then((found: readonly string[]) => {
        setFeatures(found)
        const isKnown = found.includes('view') || found.includes('film')
        if (!isKnown) again = setTimeout(() => setAttempt((count) => count + 1), tryAgainMs)
      })
    return () => clearTimeout(again)
  }, [attempt])
  if (features.includes('film') && (wantsFilm || !features.includes('view'))) return <FilmView />
  if (features.includes('view')) return <View />
  return (
    <div class="view" data-control="none" data-shown={false}>
      <div class="bar">
        <h1>Live view</h1>
        <span role="status">Looking for the screen…</span>
      </div>
    </div>
  )
}

const root = document.getElementById('view')
if (root !== null) render(<Choice />, root)
