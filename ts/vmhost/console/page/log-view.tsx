/** The log of the service, its end in sight. */
import { useEffect, useState } from 'preact/hooks'
import { Fault } from './facts.tsx'
import { service } from './reach.ts'

const lines = 300
const everyMs = 2_000

interface Entry {
  readonly time: string
  readonly level: string
  readonly words: string
}

/** The log, read again as long as it is shown. */
export const LogView = () => {
  const [entries, setEntries] = useState<readonly Entry[]>()
  const [fault, setFault] = useState<string>()
  const [onlyErrors, setOnlyErrors] = useState(false)
  useEffect(() => {
    const read = async () => {
      try {
        const { info = [], error = [] } = await service.getLogs({ type: onlyErrors ? 'error' : 'all', lines })
        setEntries([...info, ...error].map(entryOf).sort((a, b) => (a.time < b.time ? -1 : 1)))
        setFault(undefined)
      } catch (error) {
        setFault((error as Error).message)
      }
    }
    void read()
    const timer = setInterval(read, everyMs)
    return () => clearInterval(timer)
  }, [onlyErrors])
  return (
    <section aria-label="Log" class="log">
      <div class="title">
        <h2>Log</h2>
        <label class="check">
          <input
            type="checkbox"
            checked={onlyErrors}
            onChange={(event) => setOnlyErrors(event.currentTarget.checked)}
          />
          Errors only
        </label>
      </div>
      {fault !== undefined && <Fault>The log cannot be read: {fault}</Fault>}
      {entries?.length === 0 && <p class="empty">Nothing is logged yet.</p>}
      <ol>
        {entries?.toReversed().map(({ time, level, words }, index) => (
          <li key={`${time} ${index}`} class={level}>
            <time>{time.slice(11, 23)}</time> {words}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** A line as words; one that is no JSON is shown as it is. */
const entryOf = (line: string): Entry => {
  try {
    const { time = '', level = 'info', event = '', ...rest } = JSON.parse(line) as Record<string, unknown>
    const facts = Object.entries(rest).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    return { time: String(time), level: String(level), words: [String(event), ...facts].join(' ') }
  } catch {
    return { time: '', level: 'info', words: line }
  }
}
