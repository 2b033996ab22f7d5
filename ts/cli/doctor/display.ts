/** What the X server offers. Opens the display and lets go of it again; nothing stays. */
import { Failure } from '@backlot/contract/failure'
import { type CheckResult, limited, missing, works } from './finding.ts'

/** What a look at the display gave. */
export interface DisplayFacts {
  readonly display: string
  readonly vendor: string
  readonly windowManager: string | null
  /** In lower case. */
  readonly extensions: ReadonlySet<string>
  /** Processes that have windows. */
  readonly pids: ReadonlySet<number>
}

/** Looks at `$DISPLAY`; gives the failure where it cannot be opened. */
export const readDisplay = async (): Promise<DisplayFacts | Failure> => {
  try {
    const { Desktop } = await import('@backlot/native')
    const desktop = await Desktop.open(null)
    try {
      const [{ vendor, window_manager, extensions }, windows] = await Promise.all([desktop.probe(), desktop.windows()])
      return {
        display: desktop.display,
        vendor,
        windowManager: window_manager ?? null,
        extensions: new Set(extensions),
        pids: new Set(windows.map(({ pid }) => pid).filter((pid) => pid > 0)),
      }
    } finally {
      await desktop.close()
    }
  } catch (error) {
    return Failure.from(error)
  }
}

/** Gives a display that has everything. */
const otherDisplay = 'backlot desktop -- bash'
/** What is found of anything on a display where there is none. */
export const noDisplay = missing('There is no display to look at.', otherDisplay)

/** Where the person may write and run files, whatever is wrong with the temporary folder. */
const unpackElsewhere = 'mkdir -p ~/.cache/backlot && export BUN_TMPDIR=~/.cache/backlot'

export const nativeCore = (look: DisplayFacts | Failure): CheckResult =>
  look instanceof Failure && look.code === 'unsupported_platform'
    ? missing(look.message, look.data.folder === undefined ? 'npm install backlot' : unpackElsewhere)
    : works(`Loaded for ${process.platform}-${process.arch}.`)

export const display = (look: DisplayFacts | Failure): CheckResult =>
  look instanceof Failure ? missing(look.message, otherDisplay) : works(`"${look.display}" of ${look.vendor}.`)

export const windowManager = (look: DisplayFacts | Failure): CheckResult => {
  if (look instanceof Failure) return noDisplay
  return look.windowManager === null
    ? limited('None runs: windows have no order, and the active one is not known.', 'openbox &')
    : works(`${look.windowManager}.`)
}

export const capture = (look: DisplayFacts | Failure): CheckResult => {
  if (look instanceof Failure) return noDisplay
  if (!look.extensions.has('composite')) {
    return limited('The X server lacks Composite: a covered window has no picture.', otherDisplay)
  }
  if (!look.extensions.has('mit-shm')) {
    return limited(
      'The X server lacks MIT-SHM: pictures travel over the socket and take ten times as long.',
      otherDisplay,
    )
  }
  return works('Windows are pictured, covered ones too, through shared memory.')
}

export const backgroundInput = (look: DisplayFacts | Failure): CheckResult => {
  if (look instanceof Failure) return noDisplay
  const absent = ['xtest', 'xinputextension', 'shape', 'xkeyboard'].filter((name) => !look.extensions.has(name))
  return absent.length === 0
    ? works('Clicks, keys and text come from a pointer and keyboard of the agent.')
    : missing(`The X server lacks ${absent.join(', ')}: only actions on elements work.`, otherDisplay)
}
