/** Programs that leave everything by which a process is known to belong somewhere. */
import { join } from 'node:path'
import { python } from './applications.ts'

/** What such a program does once it has left. */
export const runawayKinds = {
  sleeps: 'sleeps',
  forks: 'starts the next and ends all the time',
  slowly: 'starts the next and ends in every hundredth of a second',
  execs: 'starts a program and ends all the time',
  another: 'goes on in another thread than its first',
} as const
export type RunawayKind = keyof typeof runawayKinds

/** The words that start one, which is gone when the file is there; it ends when what it leaves behind is on its way. */
export const runaway = (kind: RunawayKind, file: string, ...keep: 'keep'[]): [string, ...string[]] => [
  python,
  ...['-S', '-E', join(import.meta.dir, 'fixtures/runaway.py'), kind, file, ...keep],
]
