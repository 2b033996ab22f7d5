/** What a screen shows while it is filmed. */

export interface Scene {
  readonly name: string
  /** Programs on the screen: those that move are stopped before the last picture. */
  readonly still: readonly (readonly [string, ...string[]])[]
  readonly moving?: readonly [string, ...string[]]
  /** The aim: this part of the processor time that ffmpeg takes. */
  readonly timesTheirs?: number
}

const terminal = (geometry: string, script: string): readonly [string, ...string[]] => [
  'xterm',
  '-geometry',
  geometry,
  '-fa',
  'DejaVu Sans Mono',
  '-fs',
  '10',
  '-e',
  'sh',
  '-c',
  script,
]

const text =
  'i=0; while [ $i -lt 70 ]; do i=$((i+1)); echo "$i: the quick brown fox jumps over $((i*i)) lazy dogs"; done'

const still = [terminal('110x60+20+20', `${text}; exec cat`), ['gtk3-widget-factory']] as const

/** Still, typing at about ten letters a second, scrolling a line a picture, and a picture that is all new each time. */
export const scenes: readonly Scene[] = [
  { name: 'still', still, timesTheirs: 0.1 },
  {
    name: 'typing',
    still,
    moving: terminal(
      '90x20+960+600',
      `while :; do for c in t h e ' ' f o x ', '; do printf "$c"; sleep 0.1; done; done`,
    ),
    timesTheirs: 0.1,
  },
  {
    name: 'scrolling',
    still,
    moving: terminal(
      '120x60+900+20',
      `i=0; while :; do i=$((i+1)); echo "$i: a line of a log with numbers $((i*7919)) and $((i*104729)) in it"; sleep 0.033; done`,
    ),
    timesTheirs: 1,
  },
  {
    name: 'full motion',
    still: [],
    moving: ['ffplay', '-v', 'quiet', '-fs', '-f', 'lavfi', '-i', 'testsrc2=size=1920x1080:rate=30'],
  },
]
