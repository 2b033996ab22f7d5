/** `backlot vm shell`: a terminal in a guest. */
import { Failure } from '@backlot/contract/failure'
import type { ExtraCommand } from '../host/group.ts'
import { sshTo, withOwnKey } from './ssh.ts'
import { placed, where } from './where.ts'

const form = 'shell NAME [--user NAME] [--storage LOCATION|PATH]'

export const shell: ExtraCommand = {
  form,
  summary:
    "Open a terminal in a guest, through its SSH server, with a key that its agent is told and that is gone afterwards; ends with the shell's exit status.",
  options: {
    ...where,
    user: { type: 'string', value: 'NAME', description: 'Who logs in.', absent: '`root`' },
  },
  async run({ service, positionals, values }) {
    const [name, more] = positionals
    if (name === undefined || more !== undefined) throw new Failure('usage', `Call it as \`backlot vm ${form}\`.`)
    const { user = 'root' } = values
    if (typeof user !== 'string' || !/^[a-z_][\w-]*$/i.test(user))
      throw new Failure('usage', `"${user}" is no name of a user.`)
    if (!service.isLocal) {
      const why = 'The ports of its guests are on the loopback of its machine; call `backlot vm shell` there.'
      throw new Failure('usage', `The service is on another machine. ${why}`)
    }
    const vm = placed(name, values)
    const login = { user, command: '', timeoutSeconds: 60 }
    return withOwnKey(service, vm, user, (key) => sshTo(service, vm, { ...login, ...key }))
  },
}
