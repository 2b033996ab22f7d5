/** A computer server of its own for a test: `backlot computer` with a throw-away home. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backlotCommand } from './backlot.ts'
import { plainEnvironment } from './desktop.ts'
import { until } from './until.ts'

/** What an answer holds. */
export type Fields = Readonly<Record<string, unknown>>

/** A running server; disposing of it ends the process and removes its home. */
export interface TestComputer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  readonly pid: number
  /** Home folder of the server and of what it starts. */
  readonly home: string
  /** What it wrote on standard error so far. */
  log(): string
  /** Sends a command to `/cmd` as clients do, and gives what the one frame of the answer holds. */
  send(command: string, params?: Fields): Promise<Fields>
  /** Sends a command that has to succeed. */
  ask(command: string, params?: Fields): Promise<Fields>
  /** What a shell command on the computer prints. */
  shell(command: string): Promise<string>
  /** Ends it as a service manager does, and gives its exit status. */
  end(): Promise<number>
}

/** Starts a server as `args` say and waits until its computer can be used. */
export const startComputer = async (
  args: readonly string[] = ['--desktop', '--port', '0'],
  environment: Readonly<Record<string, string>> = {},
): Promise<TestComputer> => {
  const folder = await mkdtemp(join(tmpdir(), 'computer-'))
  const home = join(folder, 'home')
  await mkdir(home)
  const { DISPLAY: _, ...plain } = plainEnvironment()
  const child = Bun.spawn(backlotCommand('computer', ...args), {
    env: { ...plain, BACKLOT_HOME: folder, HOME: home, BUN_TMPDIR: tmpdir(), ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let log = ''
  const logged = (async () => {
    const decoder = new TextDecoder()
    for await (const part of child.stderr) log += decoder.decode(part, { stream: true })
  })()
  const end = async (): Promise<number> => {
    child.kill('SIGTERM')
    await logged
    return child.exited
  }
  const url = new TextDecoder().decode((await child.stdout.getReader().read()).value).trim()
  if (url === '') {
    await end()
    await rm(folder, { recursive: true, force: true })
    throw new Error(`the computer server did not start: ${log}`)
  }
  const send = async (command: string, params?: Fields): Promise<Fields> =>
    frameOf(await post(url, { command, params }))
  const ask = async (command: string, params?: Fields): Promise<Fields> => {
    const answer = await send(command, params)
    if (answer.success !== true) throw new Error(`${command} ${JSON.stringify(params)}: ${JSON.stringify(answer)}`)
    return answer
  }
  if (url.startsWith('http')) {
    await until('the computer to be ready', async () => {
      const { phase } = (await (await fetch(`${url}/status`)).json()) as Fields
      if (phase === 'failed') throw new Error(`the computer was not started: ${log}`)
      return phase === 'ready'
    })
  }
  return {
    url,
    pid: child.pid,
    home,
    log: () => log,
    send,
    ask,
    shell: async (command) => String((await ask('run_command', { command })).stdout),
    end,
    async [Symbol.asyncDispose]() {
      await end()
      await endDaemon(folder)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Ends the driver's daemon that a server has started at `/mcp`: where the desktop is not the server's, it stays. */
const endDaemon = async (folder: string): Promise<void> => {
  const socket = `${folder}/runtime/driver`
  const { exitCode } = Bun.spawnSync(['pkill', '-f', socket])
  if (exitCode === 0) await until('the daemon to end', () => Bun.spawnSync(['pgrep', '-f', socket]).exitCode === 1)
}

/** Posts a message to `/cmd`. */
export const post = (
  url: string,
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${url}/cmd`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(message),
  })

/** What the one frame of an answer holds. */
export const frameOf = async (response: Response): Promise<Fields> => {
  const text = await response.text()
  const [, json] = /^data: (\{.*\})\n\n$/s.exec(text) ?? []
  if (json === undefined) throw new Error(`status ${response.status}, no frame: ${text}`)
  return JSON.parse(json) as Fields
}

/** A WebSocket to `/ws`, whose messages are asked for and answered one by one. */
export interface CommandSocket extends AsyncDisposable {
  readonly socket: WebSocket
  send(message: unknown): void
  /** The next message that has not been read. */
  next(): Promise<Fields>
  ask(message: unknown): Promise<Fields>
}

/** Opens one. */
export const openSocket = async (
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<CommandSocket> => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, { headers } as unknown as string[])
  const messages: Fields[] = []
  let isOver = false
  socket.onmessage = ({ data }) => void messages.push(JSON.parse(String(data)) as Fields)
  socket.onclose = () => {
    isOver = true
  }
  await until('the socket to open', () => socket.readyState === WebSocket.OPEN || isOver)
  const next = () =>
    until('a message', () => {
      const message = messages.shift()
      if (message === undefined && isOver) throw new Error('the socket is closed')
      return message
    })
  const send = (message: unknown) => socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  return {
    socket,
    send,
    next,
    ask(message) {
      send(message)
      return next()
    },
    async [Symbol.asyncDispose]() {
      socket.close()
      await until('the socket to close', () => isOver)
    },
  }
}
