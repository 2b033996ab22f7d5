/** A screen that is shown while there is one. */
import type { ScreenProps } from '@backlot/serve/page/screen'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

interface LiveScreenProps {
  /** The screen, or what is said while there is none. */
  readonly screen: ScreenProps | string
}

/** The screen; the code that shows it is loaded when there is one. */
export const LiveScreen = ({ screen }: LiveScreenProps) => {
  const [part, setPart] = useState<{ readonly Screen: ComponentType<ScreenProps> }>()
  const isOn = typeof screen !== 'string'
  useEffect(() => {
    if (isOn) void import('@backlot/serve/page/screen').then(({ default: Screen }) => setPart({ Screen }))
  }, [isOn])
  if (!isOn) return <p class="screen off">{screen}</p>
  if (part === undefined) return <p class="screen off">Joining the screen…</p>
  return <part.Screen {...screen} />
}
