/** Failures of calls of tools, whatever they act on: arguments, sessions, recordings, configuration. */
import { kinds } from './kind.ts'

export const callFailures = kinds({
  invalid_json: { when: 'The text is not JSON, or not a JSON object.', exit: 2 },
  unknown_tool: { when: 'No tool has that name.', exit: 64 },
  tool_not_allowed: { when: '`--read-only` or `--allow` keeps this tool from being called.', exit: 1 },
  argument_not_allowed: {
    when: '`--read-only` keeps this argument from being used: it names a file to write.',
    exit: 1,
  },
  missing_argument: { when: 'A required argument is absent.', exit: 1 },
  unknown_argument: { when: 'The tool takes no argument of that name.', exit: 1 },
  invalid_argument: {
    when: 'An argument has the wrong type, is out of range or is none of the accepted values.',
    exit: 1,
  },
  invalid_environment: { when: 'An environment variable holds a value that cannot be used.', exit: 1 },
  recording_not_started: {
    when: 'The folder of a recording cannot be made, or another recording writes there.',
    exit: 1,
  },
  recording_not_found: { when: 'The folder holds no turns of a recording, or cannot be read.', exit: 1 },
  film_not_exported: { when: 'ffmpeg made no film of a recording, or the file cannot be written.', exit: 1 },
  replay_failed: { when: 'A turn of a recording failed when it was played again.', exit: 1 },
  secret_not_recorded: { when: 'The turn typed a secret, which a recording does not hold.', exit: 1 },
  session_ended: { when: 'The call names a session that has ended.', exit: 1 },
  cancelled: { when: 'The caller cancelled the call.', exit: 1 },
  paused_by_person: { when: 'The person has paused all actions; looking works.', exit: 1 },
  unsupported_platform: { when: 'The native core for this platform is absent or cannot be loaded.', exit: 1 },
  screenshot_not_written: { when: 'The picture cannot be written to the file that was named.', exit: 1 },
  config_unreadable: { when: 'The configuration file cannot be read or holds something else.', exit: 1 },
  config_not_written: { when: 'The configuration file cannot be written.', exit: 1 },
})
