/** The command that runs shell commands. */

import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../backend.ts'
import { resolvePath } from '../files/path.ts'
import { runShell } from './run.ts'
import { giveInput, signalCommand } from './running.ts'

export const shellHandlers = {
  async run_command(params, { signal, progress }) {
    const command = params.command ?? params.command_args
    if (command === undefined) {
      throw new Failure('missing_argument', '"run_command" needs "command".', { argument: 'command' })
    }
    const cwd = params.cwd === undefined ? homedir() : resolvePath(params.cwd)
    if ((await stat(cwd).catch(() => undefined))?.isDirectory() !== true) {
      throw new Failure('invalid_argument', `"cwd" is "${cwd}", which is no folder.`, { argument: 'cwd' })
    }
    const { stdout, stderr, status, truncated } = await runShell({
      command,
      cwd,
      env: params.env ?? {},
      stdin: params.stdin,
      isInputOpen: params.stdin_open ?? false,
      timeoutMs: params.timeout === undefined ? undefined : params.timeout * 1_000,
      signal,
      progress,
    })
    return { stdout, stderr, return_code: status, returncode: status, ...(truncated && { truncated }) }
  },
  async command_input({ pid, data_b64 = '', end = false }) {
    await giveInput(pid, Buffer.from(data_b64, 'base64'), end)
    return {}
  },
  async command_signal({ pid, signal = 'SIGTERM' }) {
    await signalCommand(pid, signal)
    return {}
  },
} satisfies Handlers
