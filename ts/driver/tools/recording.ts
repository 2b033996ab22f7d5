/** Recordings: a folder for each turn of an agent. */
import { Type } from '@sinclair/typebox'
import type { Call } from '../context.ts'
import { absolutePath } from '../paths.ts'
import type { RecordingState } from '../recording/recording.ts'
import { recordingsOf } from '../recording/recordings.ts'
import { arranges, type Outcome, reads, tool } from '../tool/tool.ts'

const attributes = { ...arranges, idempotent: false }

export const getRecordingState = tool({
  name: 'get_recording_state',
  title: 'Recording state',
  description: 'Whether your calls are recorded, where, and what went wrong.',
  arguments: Type.Object({}),
  attributes: reads(),
  async run(call) {
    return stateOf(call)
  },
})

export const startRecording = tool({
  name: 'start_recording',
  title: 'Start recording',
  description:
    'Keeps each later action in a folder turn-00001, turn-00002, … of output_dir: arguments and result, tree and screenshot afterwards. Starting again ends your earlier one.',
  arguments: Type.Object({
    output_dir: Type.String({ minLength: 1, description: 'Absolute, or from ~/.', more: 'Made where it is missing.' }),
    record_video: Type.Optional(
      Type.Boolean({ default: false, description: 'Film the display too.', more: 'As recording.mp4 there.' }),
    ),
  }),
  attributes: { ...attributes, writes: ['output_dir'] },
  async run(call, args) {
    const { driver, owner } = call
    const output_dir = absolutePath('output_dir', args.output_dir).replace(/(.)\/+$/, '$1')
    await recordingsOf(driver).start(driver, owner, { output_dir, record_video: args.record_video === true })
    const { text, structured } = stateOf(call)
    const { earlier } = structured
    return { text: earlier === null ? text : `${text}\nWhat was recorded there before is in ${earlier}.`, structured }
  },
})

export const stopRecording = tool({
  name: 'stop_recording',
  title: 'Stop recording',
  description: 'Ends your recording; without one of your own, all that are going on.',
  arguments: Type.Object({}),
  attributes: { ...attributes, idempotent: true },
  async run(call) {
    const stopped = await recordingsOf(call.driver).stop(call.owner)
    const { structured } = stateOf(call)
    const [first] = stopped
    const films = stopped.flatMap(({ last_video_path }) => last_video_path ?? [])
    const errors = stopped.flatMap(({ last_error }) => last_error ?? [])
    const text = stopped.map((each) => `✅ Recording stopped: ${turns(each)} in ${each.output_dir}.`)
    return {
      text: [...(text.length === 0 ? ['✅ Nothing was recorded.'] : text), ...films, ...errors].join('\n'),
      structured: {
        ...structured,
        ...(first && { last_error: errors[0] ?? null, last_video_path: films[0] ?? null }),
        stopped: stopped.map(({ output_dir, owner, next_turn, last_error, last_video_path }) => ({
          output_dir,
          owner,
          turns: next_turn - 1,
          last_error,
          last_video_path,
        })),
      },
    }
  },
})

const turns = ({ next_turn }: RecordingState): string => `${next_turn - 1} turn${next_turn === 2 ? '' : 's'}`

const stateOf = ({ driver, owner }: Call): Outcome => {
  const { recording, output_dir, ...state } = recordingsOf(driver).stateFor(owner)
  const others = recordingsOf(driver)
    .active.map((each) => each.state)
    .filter((each) => each.output_dir !== output_dir)
    .map((each) => ({ output_dir: each.output_dir, owner: each.owner, next_turn: each.next_turn }))
  const by = state.owner === null ? '' : ` of ${state.owner}`
  const headline = recording
    ? `✅ Recording${by} into ${output_dir}; next turn ${state.next_turn}.`
    : '✅ Nothing is recorded.'
  return {
    text: [headline, ...(state.last_error === null ? [] : [`last_error: ${state.last_error}`])].join('\n'),
    structured: {
      recording,
      enabled: recording,
      output_dir: recording ? output_dir : null,
      ...state,
      other_recordings: others,
    },
  }
}
