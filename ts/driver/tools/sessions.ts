/** Sessions: what belongs to one run of an agent. */
import { sessions as limits } from '@backlot/contract/limits'
import { Type } from '@sinclair/typebox'
import { arranges, tool } from '../tool/tool.ts'

const sessionArguments = Type.Object({
  session: Type.String({ minLength: 1, maxLength: limits.longestName, description: 'Its name, of your choice.' }),
})

export const startSession = tool({
  name: 'start_session',
  title: 'Start a session',
  description:
    'Declares a session with a cursor, configuration and recording of its own: pass its name as session with every call. Again, it keeps it alive.',
  arguments: sessionArguments,
  attributes: arranges,
  async run({ driver, holder }, { session }) {
    const { isNew } = driver.sessions.start(session, holder)
    return {
      text: `✅ Session "${session}" ${isNew ? 'started' : 'goes on'}.`,
      structured: { session, active: true, started: isNew },
    }
  },
})

export const endSession = tool({
  name: 'end_session',
  title: 'End a session',
  description: 'Ends a session: its cursor goes, its recording stops, its configuration is forgotten.',
  arguments: sessionArguments,
  attributes: arranges,
  async run({ driver }, { session }) {
    const ended = await driver.sessions.end(session)
    return {
      text: ended ? `✅ Session "${session}" ended.` : `✅ Session "${session}" was not active.`,
      structured: { session, active: false, ended },
    }
  },
})
