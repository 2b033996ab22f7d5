/** `backlot local`: sandboxes on this Linux, without KVM and without a container engine. */
import { Failure, failures } from '@backlot/contract/failure'
import type { Command } from '../command.ts'
import { startUsage } from '../local/start.ts'
import { printJson, say } from '../terminal/output.ts'

export const command: Command = {
  summary: 'Start sandboxes, private desktops in namespaces of this Linux, and look after them.',
  usage: `backlot local start …        a sandbox with a desktop and a computer server
backlot local list           those there are
backlot local info NAME      what is known of one, with its key
backlot local suspend NAME   halt its programs, until it is resumed or the machine restarts
backlot local resume NAME    let them go on, or start a stopped one again
backlot local stop NAME      end its programs and keep its files
backlot local delete NAME    end it and remove all of it
backlot local logs NAME [--follow]
backlot local snapshot NAME [--name NAME]   save its files, while its programs are halted for a moment
backlot local snapshots      those there are, also of sandboxes that are deleted
backlot local delete-snapshot ID
backlot local restore NAME ID   end its programs, put its files back, and start it again
backlot local fork NAME [COPY]… start copies of it, with its files but not with its running programs
backlot local pool [NAME] [--size N] [--detach] [what start takes]
                             keep sandboxes ready, as many as memory allows, until this command ends; --size 0 ends one
backlot local pools          those there are, and how full
backlot local claim [NAME] [--name NAME] [--label KEY=VALUE]… [--ttl-ms N]
                             take a sandbox that is ready, which stays from then on
backlot local build          build the root file system of the level own-root, of Debian's packages
backlot local prune          remove what no sandbox needs: kept layers of images, and roots of other versions
backlot local levels         which levels of isolation work here, and what brings the others

${startUsage}

All but logs print JSON; list and levels a table on a terminal, unless called with --json. With --json before the verb
a failure too is one line of JSON on standard output: {"error":{"code":…,"message":…,"data":…}}.
An ephemeral sandbox whose program was killed is removed by the next of these commands.`,
  async run(args) {
    const isForProgram = args[0] === '--json'
    const [verb = '', ...rest] = isForProgram ? args.slice(1) : args
    const act = async (): Promise<number> => {
      const { verbs } = await import('../local/verbs.ts')
      const known = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
      if (known !== undefined) return known(rest)
      throw new Failure(
        'usage',
        `"${verb}" is nothing that \`backlot local\` does. \`backlot local --help\` lists what is.`,
      )
    }
    if (!isForProgram) return act()
    try {
      return await act()
    } catch (error) {
      const { failureOf } = await import('@backlot/contract/system-failure')
      const { code, message, data } = failureOf(error)
      await printJson({ error: { code, message, data } })
      await say(`error: ${message}`)
      return failures[code].exit
    }
  },
}
