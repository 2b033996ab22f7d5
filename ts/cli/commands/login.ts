/** `backlot login`: signs in to a cloud. */
import { Failure } from '@backlot/contract/failure'
import { cloud, environment } from '@backlot/contract/limits'
import { login } from '@backlot/sdk'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'
import { statusAfter } from '../sandbox/refused.ts'
import { say } from '../terminal/output.ts'

export const command: Command = {
  summary: 'Sign in to a cloud by the browser, and store its key on this machine.',
  usage: `backlot login [--base-url URL] [--no-open] [--timeout-seconds SECONDS]

The key is stored in credentials.json of the configuration folder, which its user alone may read.

  --base-url URL             Address of the cloud; ${environment.cloudUrl}, or the one signed in to last, when absent.
  --no-open                  Only print the address to open in a browser on this machine.
  --timeout-seconds SECONDS  How long it waits; ${cloud.loginMs / 1_000} when absent.`,
  async run(args) {
    const { values, positionals } = readFlags('login', {
      args: [...args],
      allowPositionals: true,
      options: {
        'base-url': { type: 'string' },
        'no-open': { type: 'boolean' },
        'timeout-seconds': { type: 'string' },
      },
    })
    if (positionals.length > 0) throw new Failure('usage', 'Call it as `backlot login [--base-url URL]`.')
    const seconds = values['timeout-seconds']
    const baseUrl = values['base-url']
    const timeoutMs = seconds === undefined ? undefined : Number(seconds) * 1_000
    if (timeoutMs !== undefined && (seconds?.trim() === '' || !(timeoutMs > 0))) {
      throw new Failure('usage', `"--timeout-seconds" is "${seconds}"; it is a number of seconds greater than 0.`)
    }
    return statusAfter(async () => {
      await login({
        ...(baseUrl !== undefined && { baseUrl }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(values['no-open'] && {
          open: (url: string) => say(`To sign in, open this address in a browser here:\n${url}`),
        }),
      })
      await say('You are signed in. `backlot whoami` tells as whom.')
    })
  },
}
