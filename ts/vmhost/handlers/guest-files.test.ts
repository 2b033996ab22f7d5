import { expect, test } from 'bun:test'
import { isPacked } from './guest-files.ts'

test('a folder of which a file was left out is not taken for whole, whichever tar the guest has', () => {
  const change = 'tar: ./log: file changed as we read it'
  for (const [status, said, isWhole] of [
    [0, 'tar: ./s: socket ignored\n', true],
    [1, `tar: ./s: socket ignored\n${change}\n`, true],
    [1, 'tar: ./log: File shrank by 12 bytes; padding with zeros\n', true],
    [1, '', false],
    [1, `${change}\ntar: can't open 'b': I/O error\ntar: error exit delayed from previous errors\n`, false],
    [2, 'tar: b: Cannot open: Input/output error\n', false],
    [127, change, false],
  ] as const)
    expect([status, said, isPacked(status, said)]).toEqual([status, said, isWhole])
})
