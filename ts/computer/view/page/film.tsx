/** The live view where there is no VNC screen: the film of the display, to look at. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { socketAddress } from './channel.ts'
import { canDecode, FilmDecoder } from './film-decoder.ts'
import { FilmPlayer } from './film-player.ts'
import { tryAgainMs } from './try-again.ts'

export const FilmView = () => {
  const frame = useRef<HTMLDivElement>(null)
  const video = useRef<HTMLVideoElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [attempt, setAttempt] = useState(0)
  const [isShown, setShown] = useState(false)
  /** Pictures are decoded here, which shows them sooner than a player does. */
  const [isDecoded, setDecoded] = useState(canDecode)
  useEffect(() => {
    let again: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    let wasShown = false
    const changed = (shown: boolean) => {
      if (shown !== wasShown) setShown(shown)
      wasShown = shown
      if (!shown && !isOver) again = setTimeout(() => setAttempt((count) => count + 1), tryAgainMs)
    }
    const address = socketAddress('/view/film')
    const film =
      canvas.current !== null
        ? new FilmDecoder(canvas.current, address, changed, () => setDecoded(false))
        : video.current !== null
          ? new FilmPlayer(video.current, address, changed)
          : undefined
    if (film === undefined) return
    addEventListener('pagehide', film.close)
    return () => {
      isOver = true
      clearTimeout(again)
      removeEventListener('pagehide', film.close)
      film.close()
    }
  }, [attempt, isDecoded])
  return (
    <div class="view" data-control="none" data-shown={isShown}>
      <div class="bar">
        <h1>Live view</h1>
        <span role="status">
          {isShown ? 'You look on at a film of the screen; nobody can act here.' : 'Looking for the screen…'}
        </span>
        <button type="button" onClick={() => void frame.current?.requestFullscreen()}>
          Full screen
        </button>
      </div>
      <div class="screen" ref={frame}>
        {isDecoded ? <canvas class="film" ref={canvas} /> : <video ref={video} muted autoplay playsInline />}
      </div>
    </div>
  )
}
