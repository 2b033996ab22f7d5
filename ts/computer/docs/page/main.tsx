/** The commands of the computer server, each of which can be tried. */
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'

interface Param {
  readonly name: string
  readonly required: boolean
  readonly type: string
  readonly description: string
}

interface Command {
  readonly summary: string
  readonly aliases: readonly string[]
  readonly params: readonly Param[]
  readonly unavailable?: string
}

interface Answer {
  readonly text: string
  readonly picture: string | undefined
}

/** What a person typed, as a value of the type: text where the type is text, JSON otherwise. */
const parsed = ({ type }: Param, text: string): unknown => {
  if (type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const send = async (command: string, params: Readonly<Record<string, unknown>>): Promise<Answer> => {
  const response = await fetch('/cmd', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ command, params }),
  })
  const text = await response.text()
  const answer = JSON.parse(text.replace(/^data: /, '')) as Record<string, unknown>
  const picture =
    typeof answer.image_data === 'string' ? `data:image/${answer.format};base64,${answer.image_data}` : undefined
  const shown = picture === undefined ? answer : { ...answer, image_data: '…' }
  return { text: JSON.stringify(shown, null, 2), picture }
}

const Trial = ({ name, command }: { readonly name: string; readonly command: Command }) => {
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({})
  const [answer, setAnswer] = useState<Answer | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const run = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    const filled = command.params.filter((param) => (given[param.name] ?? '') !== '')
    const params = Object.fromEntries(filled.map((param) => [param.name, parsed(param, given[param.name] ?? '')]))
    try {
      setAnswer(await send(name, params))
    } catch (error) {
      setAnswer({ text: String(error), picture: undefined })
    }
    setBusy(false)
  }
  return (
    <form onSubmit={(event) => void run(event)}>
      {command.params.map((param) => (
        <label key={param.name}>
          <span>
            <code>{param.name}</code> {param.required && <b title="required">required</b>}
          </span>
          <input
            value={given[param.name] ?? ''}
            placeholder={param.type}
            onInput={({ currentTarget }) => setGiven({ ...given, [param.name]: currentTarget.value })}
          />
          <small>{param.description}</small>
        </label>
      ))}
      <button type="submit" disabled={isBusy}>
        Send
      </button>
      {answer !== undefined && <pre>{answer.text}</pre>}
      {answer?.picture !== undefined && <img src={answer.picture} alt="The screen" />}
    </form>
  )
}

const Docs = () => {
  const [commands, setCommands] = useState<Readonly<Record<string, Command>>>({})
  const [search, setSearch] = useState('')
  useEffect(() => {
    void fetch('/commands')
      .then((response) => response.json())
      .then((answer: { commands: Record<string, Command> }) => setCommands(answer.commands))
  }, [])
  const shown = Object.entries(commands).filter(([name, { summary, aliases }]) =>
    [name, summary, ...aliases].join(' ').toLowerCase().includes(search.toLowerCase()),
  )
  return (
    <main>
      <h1>Commands of this computer</h1>
      <p>
        Sent to <code>POST /cmd</code> or over <code>WS /ws</code> as <code>{'{"command": …, "params": {…}}'}</code>.
        What is sent here is done. <a href="/view">Live view</a> · <a href="/openapi.json">OpenAPI</a>
      </p>
      <input
        type="search"
        aria-label="Search"
        placeholder="Search"
        value={search}
        onInput={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      {shown.map(([name, command]) => (
        <details key={name} class={command.unavailable === undefined ? '' : 'off'}>
          <summary>
            <code>{name}</code>
            <span>{command.summary}</span>
          </summary>
          {command.unavailable !== undefined && <p>Does not work now: {command.unavailable}.</p>}
          {command.aliases.length > 0 && <p>Also called {command.aliases.join(', ')}.</p>}
          <Trial name={name} command={command} />
        </details>
      ))}
    </main>
  )
}

const root = document.getElementById('docs')
if (root !== null) render(<Docs />, root)
