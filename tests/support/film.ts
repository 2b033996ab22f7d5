/**
 * A process that films the display of its environment: `film.ts PATH [OPTIONS]`. It prints the film's state whenever there are
 * more frames, stops when its standard input ends and prints the last one; a refused start is printed as `{ code }`.
 */
import { Desktop, Film } from '@backlot/native'

const [, , path = '', options = '{}'] = process.argv
const say = (value: unknown) => console.log(JSON.stringify(value))
try {
  const film = await Film.start(await Desktop.open(), path, JSON.parse(options))
  let told = 0
  const timer = setInterval(() => {
    const state = film.state()
    if (state.frames !== told || !state.running) say(state)
    told = state.frames
  }, 20)
  await Bun.stdin.text()
  clearInterval(timer)
  await film.stop()
  say(await film.stop())
} catch (error) {
  say({ code: (error as { code?: string }).code })
}
process.exit()
