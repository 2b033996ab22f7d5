/** The page of the live view: the screen of the computer, or its film. */
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { FilmView } from './film.tsx'
import { ScreenView } from './screen-view.tsx'
import { tryAgainMs } from './try-again.ts'

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
  if (features.includes('view')) return <ScreenView />
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
