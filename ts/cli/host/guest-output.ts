/** What a command in a guest wrote, on the streams of ours that it would have had. */
import type { Result } from '@backlot/contract/endpoint'
import type { vmHost } from '@backlot/contract/vmhost'
import { printPart, sayPart } from '../terminal/output.ts'

/** Prints it, tells whether some of it was lost, and gives the command's exit status. */
export const printGuestOutput = async (result: Result<(typeof vmHost)['execInVm']>): Promise<number> => {
  await printPart(result.stdout)
  await sayPart(result.stderr)
  for (const [name, isTruncated] of [
    ['output', result.stdoutTruncated],
    ['error output', result.stderrTruncated],
  ] as const) {
    if (isTruncated) {
      await sayPart(
        `\nbacklot: the guest agent dropped the rest of the ${name}; write so much to a file in the guest.\n`,
      )
    }
  }
  return result.exitCode
}
