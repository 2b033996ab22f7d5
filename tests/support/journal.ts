/** What an application says that happened to it: the ground truth of the end-to-end tests. */
import { readFileSync } from 'node:fs'
import { until } from './until.ts'

/** One entry; its other fields are the fixture's. */
export interface Entry {
  readonly type: string
  readonly [fact: string]: unknown
}

/** A growing list of entries. */
export class Journal {
  constructor(private readonly load: () => readonly Entry[]) {}

  /** A journal that a fixture writes to a file as JSON lines. */
  static inFile(path: string): Journal {
    return new Journal(() => {
      let text: string
      try {
        text = readFileSync(path, 'utf8')
      } catch {
        return []
      }
      // The last line may be half written.
      return text
        .slice(0, text.lastIndexOf('\n') + 1)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Entry)
    })
  }

  /** Everything so far, or everything after a `mark`. */
  entries(since = 0): readonly Entry[] {
    return this.load().slice(since)
  }

  /** Where the journal ends now. */
  mark(): number {
    return this.load().length
  }

  /** Settles with the first entry after `since` that fits. */
  waitFor(what: string, fits: (entry: Entry) => boolean, since = 0): Promise<Entry> {
    return until(what, () => this.entries(since).find(fits)).catch((error: Error) => {
      throw new Error(`${error.message}; the journal says ${JSON.stringify(this.entries(since).slice(-20))}`)
    })
  }
}
