/** The live view: the screen of the computer, to look at, and to take over. */
import RFB from '@novnc/novnc'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Control, socketAddress, ViewChannel } from './channel.ts'
import { tryAgainMs } from './try-again.ts'

const nobody: Control = { mine: false, taken: false }

/** This page only looks on: the server gives it no more. */
const isViewOnly = new URL(location.href).searchParams.get('view_only') === 'true'

/** What a page knows of the screen that it is joined with. */
interface Joined {
  readonly channel: RefObject<ViewChannel | undefined>
  readonly screen: RefObject<RFB | undefined>
  readonly isShown: boolean
  readonly control: Control
  /** Text of the clipboard while that is shown. */
  readonly clipboard: string | undefined
  setClipboard(change: (shown: string | undefined) => string | undefined): void
}

/** Joins the screen in a frame, and again whenever the connection breaks. */
const useScreen = (frame: RefObject<HTMLDivElement | null>): Joined => {
  const channel = useRef<ViewChannel | undefined>(undefined)
  const screen = useRef<RFB | undefined>(undefined)
  const [attempt, setAttempt] = useState(0)
  const [isShown, setShown] = useState(false)
  const [control, setControl] = useState<Control>(nobody)
  const [clipboard, setClipboard] = useState<string | undefined>(undefined)
  useEffect(() => {
    if (frame.current === null) return
    const address = isViewOnly ? '/view/screen?view_only=true' : '/view/screen'
    const joined = new ViewChannel(socketAddress(address), setControl)
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
  }, [frame, attempt])
  return { channel, screen, isShown, control, clipboard, setClipboard }
}

/** The screen with its bar. */
export const ScreenView = () => {
  const frame = useRef<HTMLDivElement>(null)
  const joined = useScreen(frame)
  const { screen, isShown, control, clipboard, setClipboard } = joined
  /** The screen of the computer takes the size of this window, which programs that act may not expect. */
  const [isFitted, setFitted] = useState(false)
  // Who is told that they act can act.
  useLayoutEffect(() => {
    const { current } = screen
    if (current === undefined) return
    current.viewOnly = !control.mine
    current.resizeSession = control.mine && isFitted
    if (control.mine) current.focus()
  }, [screen, control.mine, isFitted, isShown])
  return (
    <div class="view" data-control={control.mine ? 'mine' : control.taken ? 'taken' : 'none'} data-shown={isShown}>
      <div class="bar">
        <h1>Live view</h1>
        <span role="status">{isShown ? actorOf(control) : 'Looking for the screen…'}</span>
        {!isViewOnly && <Buttons joined={joined} isFitted={isFitted} fit={setFitted} />}
        <button type="button" onClick={() => void frame.current?.requestFullscreen()}>
          Full screen
        </button>
      </div>
      {clipboard !== undefined && control.mine && (
        <div class="clipboard">
          <textarea
            aria-label="Clipboard of the computer"
            value={clipboard}
            onInput={({ currentTarget }) => setClipboard(() => currentTarget.value)}
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

const actorOf = ({ mine, taken }: Control): string => {
  if (mine) return 'You act; programs that act are halted until you let go.'
  return taken ? 'Somebody else acts.' : 'You look on.'
}

interface ButtonsProps {
  readonly joined: Joined
  readonly isFitted: boolean
  fit(change: (before: boolean) => boolean): void
}

/** What the person does with the screen. */
const Buttons = ({ joined, isFitted, fit }: ButtonsProps) => {
  const { channel, screen, isShown, control, clipboard, setClipboard } = joined
  const toggleClipboard = () => {
    setClipboard((shown) => (shown === undefined ? '' : undefined))
    if (clipboard === undefined) channel.current?.askForClipboard()
  }
  return (
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
      <button type="button" disabled={!control.mine} onClick={toggleClipboard}>
        Clipboard
      </button>
      <button type="button" disabled={!control.mine} aria-pressed={isFitted} onClick={() => fit((before) => !before)}>
        Resize the screen
      </button>
      <button type="button" disabled={!control.mine} onClick={() => screen.current?.sendCtrlAltDel()}>
        Ctrl+Alt+Del
      </button>
    </>
  )
}
