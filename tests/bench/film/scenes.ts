/** What a screen shows while it is filmed. */

export interface Scene {
  readonly name: string
  /** Programs on the screen: those that move are stopped before the last picture. */
  readonly still: readonly (readonly [string, ...string[]])[]
  readonly moving?: readonly [string, ...string[]]
  /** The aim: this part of the processor time that ffmpeg takes. */
  readonly timesTheirs?: number
  /** The aim: this part of one core, in percent. */
  readonly mostPercent?: number
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

/** A person at work in an editor: words, now and then a menu or a page up and down, and a rest. */
const working = `mousepad >/dev/null 2>&1 &
until xdotool search --onlyvisible --class mousepad windowactivate --sync; do sleep 0.1; done
seq -s ' lines of a text that was there before ' 400 | fold -w 70 | head -n 60 | xclip -selection clipboard
xdotool key ctrl+v
while :; do
  xdotool type --delay 160 'the quick brown fox jumps over the lazy dog, '
  sleep 1.5
  xdotool key alt+e; sleep 1; xdotool key Escape
  xdotool type --delay 160 'and back again. '
  for key in Prior Prior Next Next; do xdotool key $key; sleep 0.4; done
  sleep 1
done`

/** Still, a usual working desktop, typing at about ten letters a second, scrolling a line a picture, and a picture that is all new each time. */
export const scenes: readonly Scene[] = [
  { name: 'still', still, timesTheirs: 0.1 },
  { name: 'working', still, moving: ['sh', '-c', working], mostPercent: 5 },
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
