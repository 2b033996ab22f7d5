/** Processes of this executable that no signal to the terminal reaches. */
import { programCalled } from '../executable.ts'

/** Starts `backlot local` with these words in a session of its own, to be read on standard output. */
export const startDetached = <Input extends 'pipe' | 'inherit' | 'ignore'>(words: readonly string[], stdin: Input) => {
  const { command, argv0 } = programCalled('backlot')
  const options = { argv0, cwd: '/', stdin, stdout: 'pipe', stderr: 'ignore', detached: true } as const
  return Bun.spawn([...command, 'local', ...words], options)
}
