/** How far long work is: one line on a terminal's standard error, rewritten; nothing where that is no terminal. */
import { isatty } from 'node:tty'

/** Shows what is being done. */
export interface Progress extends Disposable {
  /** `percent` is of this step; a step without one has no bar. */
  show(step: string, percent?: number): void
}

const barCells = 24

/** `fetching packages ████████░░░░ 66 %`. */
export const progressLine = (step: string, percent?: number): string => {
  if (percent === undefined) return `${step} …`
  const whole = Math.max(0, Math.min(100, Math.floor(percent)))
  const full = Math.round((whole / 100) * barCells)
  return `${step} ${'█'.repeat(full)}${'░'.repeat(barCells - full)} ${whole} %`
}

/** Progress on standard error; disposing of it clears the line. */
export const startProgress = (isTerminal: boolean = isatty(2)): Progress => {
  let shown = ''
  const draw = (line: string): void => {
    if (!isTerminal || line === shown) return
    shown = line
    process.stderr.write(`\r\u001b[K${line}`)
  }
  const { error } = console
  // What the SDK tells meanwhile gets a line of its own, above this one.
  if (isTerminal) {
    console.error = (...words) => {
      const below = shown
      draw('')
      error(...words)
      draw(below)
    }
  }
  return {
    show: (step, percent) => draw(progressLine(step, percent)),
    [Symbol.dispose]: () => {
      draw('')
      if (isTerminal) console.error = error
    },
  }
}
