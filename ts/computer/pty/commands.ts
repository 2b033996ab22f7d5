/** The commands on terminals. */
import type { Handlers } from '../backend.ts'
import type { Terminals } from './terminals.ts'

export const terminalHandlers = (terminals: Terminals) =>
  ({
    async terminal_create({ shell, cols, rows, cwd, env }) {
      const terminal = await terminals.create({ command: shell, cols, rows, cwd, env })
      return { pid: terminal.pid, cols: terminal.cols, rows: terminal.rows }
    },
    async terminal_send({ pid, data }) {
      terminals.find(pid).write(data)
      return {}
    },
    async terminal_resize({ pid, cols, rows }) {
      terminals.find(pid).resize(cols, rows)
      return {}
    },
    async terminal_close({ pid }) {
      const terminal = terminals.find(pid)
      const killed = terminal.exitCode === undefined
      return { result: await terminal.close(), killed }
    },
  }) satisfies Handlers
