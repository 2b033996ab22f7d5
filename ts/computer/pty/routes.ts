/** The routes of terminals: `/pty` and what lies below it. */
import { Failure } from '@backlot/contract/failure'
import { type BoundServer, eventStream, type SocketHandler } from '@backlot/serve'
import { Type } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { fieldsOf } from '../http/fields.ts'
import type { Replaceable } from '../replaceable.ts'
import type { Terminal } from './terminal.ts'
import type { Terminals } from './terminals.ts'

const side = Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 }))
const Size = Type.Object({ cols: side, rows: side })
const New = Type.Object({
  command: Type.Optional(Type.String({ minLength: 1 })),
  ...Size.properties,
  cwd: Type.Optional(Type.String({ minLength: 1 })),
  envs: Type.Optional(Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.String())),
})
const Input = Type.Object({ data: Type.String() })

/** Adds the routes; a terminal is started on the computer that there is then. */
export const ptyRoutes =
  (terminals: Terminals, computer: Replaceable<unknown>) =>
  (app: AnyElysia, server: BoundServer): AnyElysia => {
    const named = ({ pid }: Readonly<Record<string, string | undefined>>): Terminal => terminals.find(numberOf(pid))
    return app
      .post('/pty', async ({ request }) => {
        const { command, cols, rows, cwd, envs } = await fieldsOf(request, New)
        await computer.get()
        return recordOf(await terminals.create({ command, cols, rows, cwd, env: envs } as never))
      })
      .get('/pty/:pid', ({ params }) => recordOf(named(params)))
      .delete('/pty/:pid', async ({ params }) => {
        const terminal = named(params)
        return { pid: terminal.pid, killed: true, exit_code: await terminal.close() }
      })
      .post('/pty/:pid/stdin', async ({ request, params }) => {
        const { data } = await fieldsOf(request, Input)
        named(params).write(inputOf(data as string))
        return { pid: Number(params.pid), sent: true }
      })
      .post('/pty/:pid/resize', async ({ request, params }) => {
        const terminal = named(params)
        const { cols = terminal.cols, rows = terminal.rows } = await fieldsOf(request, Size)
        terminal.resize(cols as number, rows as number)
        return recordOf(terminal)
      })
      .get('/pty/:pid/stream', ({ request, params }) => {
        const terminal = named(params)
        return eventStream(request, (last, sink) => {
          const after = /^\d{1,15}$/.test(last ?? '') ? Number(last) : 0
          return terminal.follow(
            {
              output: (bytes, until) => sink.send({ id: String(until), data: outputFrame(bytes) }),
              exit(code) {
                sink.send({ data: { type: 'exit', code } })
                sink.end()
              },
            },
            after,
          )
        })
      })
      .get('/pty/:pid/ws', ({ request, params }) => {
        if (server.join(request, terminalSocket(named(params)))) return new Response()
        throw new Failure('not_a_socket', 'A terminal is given to a WebSocket here; connect with one, or use /stream.')
      })
  }

/** The number of a terminal in a path; throws `terminal_unknown` for what is none. */
const numberOf = (pid: string | undefined): number => {
  if (/^[1-9]\d{0,9}$/.test(pid ?? '')) return Number(pid)
  throw new Failure('terminal_unknown', `"${pid}" is no terminal; it is the number of a process.`, { pid })
}

const recordOf = ({ pid, cols, rows, command, exitCode, startedAt }: Terminal) => ({
  pid,
  cols,
  rows,
  command: command ?? null,
  running: exitCode === undefined,
  exit_code: exitCode ?? null,
  created_at: startedAt.toISOString(),
})

const outputFrame = (bytes: Uint8Array) => ({ type: 'output', data: Buffer.from(bytes).toString('base64') })

/**
 * What a client types. Some send base64 and others text, with nothing that tells which: text that is valid base64, of a
 * multiple of four characters, is decoded, and all other text is sent as it is. `terminal_send` never decodes.
 */
const inputOf = (data: string): string | Uint8Array => {
  const isBase64 = data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data)
  return isBase64 ? Buffer.from(data, 'base64') : data
}

/** Bytes that may wait for a client that does not read; it is let go of then, and may come back for what it missed. */
const mostWaitingBytes = 8_000_000

/** Output goes to the socket in frames; what comes is input, or `{"type": "input" | "resize", …}`. */
const terminalSocket = (terminal: Terminal): SocketHandler => {
  let unfollow = () => {}
  return {
    open(socket) {
      unfollow = terminal.follow({
        output(bytes) {
          socket.send(JSON.stringify(outputFrame(bytes)))
          if (socket.getBufferedAmount() > mostWaitingBytes) socket.close(1013, 'the output is not read')
        },
        exit(code) {
          socket.send(JSON.stringify({ type: 'exit', code }))
          socket.close(1000, 'the terminal has ended')
        },
      })
    },
    message(_, message) {
      if (typeof message !== 'string') {
        terminal.write(new Uint8Array(message))
        return
      }
      const order = orderOf(message)
      if (order === undefined) terminal.write(message)
      else if (order.type === 'resize') terminal.resize(order.cols, order.rows)
      else terminal.write(inputOf(order.data))
    },
    close: () => unfollow(),
  }
}

type TerminalMessage = { type: 'input'; data: string } | { type: 'resize'; cols: number; rows: number }

const orderOf = (message: string): TerminalMessage | undefined => {
  if (!message.startsWith('{')) return undefined
  try {
    const order = JSON.parse(message) as Record<string, unknown>
    const { type, data, cols, rows } = order
    if ((type === 'input' || type === 'stdin') && typeof data === 'string') return { type: 'input', data }
    const isSide = (each: unknown): each is number =>
      Number.isInteger(each) && Number(each) >= 1 && Number(each) <= 1_000
    return type === 'resize' && isSide(cols) && isSide(rows) ? { type, cols, rows } : undefined
  } catch {
    return undefined
  }
}
