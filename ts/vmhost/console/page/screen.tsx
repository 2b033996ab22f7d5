/** The screen of a running VM, with its keyboard and pointer. */
import RFB from '@novnc/novnc'
import { useEffect, useRef, useState } from 'preact/hooks'
import { screenUrl } from './reach.ts'

interface ScreenProps {
  readonly name: string
  readonly storage: string
  readonly password: string
}

/** Milliseconds after which a screen that went away is looked for again. */
const tryAgainMs = 1_000

/** The keys that take the keyboard back from the VM: nothing else reaches the page while the screen has the focus. */
const isRelease = (event: KeyboardEvent): boolean => event.ctrlKey && event.altKey && event.code === 'KeyG'

/** Keys that were pressed on the way there, which the VM would never see released. */
const modifiers = { ControlLeft: 0xffe3, ControlRight: 0xffe4, AltLeft: 0xffe9, AltRight: 0xffea } as const

/** The screen, joined again when the connection breaks. */
const Screen = ({ name, storage, password }: ScreenProps) => {
  const frame = useRef<HTMLDivElement>(null)
  const release = useRef<HTMLButtonElement>(null)
  const connection = useRef<RFB | undefined>(undefined)
  const [attempt, setAttempt] = useState(0)
  const [state, setState] = useState<'joining' | 'shown' | 'lost' | 'refused'>('joining')
  useEffect(() => {
    if (frame.current === null) return
    const rfb = new RFB(frame.current, screenUrl(name, storage), { credentials: { password }, shared: true })
    let again: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    rfb.scaleViewport = true
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
  }, [name, storage, password, attempt])
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
  }, [])
  return (
    <section class="screen" aria-label="Screen" data-state={state}>
      <div class="canvas" ref={frame}>
        {state !== 'shown' && <p role="status">{words[state]}</p>}
      </div>
      <div class="buttons">
        <button type="button" ref={release} onClick={() => connection.current?.focus()} disabled={state !== 'shown'}>
          Use keyboard
        </button>
        <button type="button" onClick={() => connection.current?.sendCtrlAltDel()} disabled={state !== 'shown'}>
          Send Ctrl+Alt+Del
        </button>
        <button type="button" onClick={() => void frame.current?.requestFullscreen()}>
          Full screen
        </button>
        <small>Ctrl+Alt+G gives the keyboard back to this page.</small>
      </div>
    </section>
  )
}

const words = {
  joining: 'Joining the screen…',
  lost: 'The screen went away; looking for it again…',
  refused: 'The VM refused the password of its screen; looking again…',
} as const

export default Screen
