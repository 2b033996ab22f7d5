import { expect, test } from 'bun:test'
import { shellText, shellWord } from './shell-text.ts'

test('a shell reads every word back as it was', () => {
  const words = ['', 'plain', "it's", '$HOME `id` "x" \\ *', 'two\nlines\n', '-n', 'ü', '~', "'"]
  for (const write of [shellText, shellWord]) {
    const { stdout } = Bun.spawnSync(['sh', '-c', `printf '%s\\0' ${words.map(write).join(' ')}`])
    expect(stdout.toString().split('\0').slice(0, -1)).toEqual(words)
  }
})

test('quotes stand where they are needed, or always', () => {
  expect(['/a-b_c.d', 'x=1,2:3@4%5+6', '', 'a b', 'a\n'].map(shellWord)).toEqual([
    '/a-b_c.d',
    'x=1,2:3@4%5+6',
    "''",
    "'a b'",
    "'a\n'",
  ])
  expect(["it's", 'a'].map(shellText)).toEqual(["'it'\\''s'", "'a'"])
})
