/** What the SDK refuses, as a command tells it. */
import { failures } from '@backlot/contract/failure'
import { BacklotError } from '@backlot/sdk'
import { say } from '../terminal/output.ts'

/** Calls of the SDK that its messages name, and the commands that do the same. */
const commands: readonly (readonly [call: RegExp, command: string])[] = [
  [/`Sandbox\.list\(\{ local: true \}\)`/g, '`backlot sandbox list --local`'],
  [/`Sandbox\.list\(\{ runtime: 'cloud' \}\)`/g, '`backlot sandbox list --runtime cloud`'],
  [/`Sandbox\.list\(\)`/g, '`backlot sandbox list`'],
  [/`Sandbox\.resume\("([^"]*)"\)`/g, '`backlot sandbox resume $1`'],
  [/`Sandbox\.logs`/g, '`backlot sandbox logs NAME`'],
  [/`Sandbox\.delete\("([^"]*)", \{ runtime \}\)`/g, '`backlot sandbox rm $1 --runtime NAME`'],
  [/`configure\(\{ baseUrl \}\)`/g, '`backlot login --base-url URL`'],
  [/`login\(\)`/g, '`backlot login`'],
  [/`\{ local: true \}`/g, '`--local`'],
]

/** A message of the SDK for who is in a shell. */
export const inShell = (message: string): string =>
  commands.reduce((text, [call, command]) => text.replaceAll(call, command), message)

/** Does the work; gives the exit status, and says what the SDK refused. */
export const statusAfter = async (work: () => Promise<unknown>): Promise<number> => {
  try {
    await work()
    return 0
  } catch (error) {
    if (!BacklotError.is(error)) throw error
    await say(`error: ${inShell(error.message)}`)
    return error.code === 'invalid_argument' ? failures.invalid_argument.exit : 1
  }
}
