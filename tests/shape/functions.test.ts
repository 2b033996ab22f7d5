import { expect, test } from 'bun:test'
import { functionsOf } from './functions.ts'
import { files, isGenerated, read } from './sources.ts'

/** Lines that a reader takes in at a glance. */
const most = 50

const sources = files.filter((file) => /^ts\/.*\.tsx?$/.test(file) && !file.includes('.test.') && !isGenerated(file))

test('no function of a package is longer than a reader takes in', () => {
  const long = sources.flatMap((file) =>
    functionsOf(read(file))
      .filter(({ lines }) => lines > most)
      .map(({ name, line, lines }) => `${file}:${line}: ${name} has ${lines} lines`),
  )
  expect(long).toEqual([])
})

test('functions are found with all their lines', () => {
  const source = `export const first = async (
  one: string,
): Promise<void> => {
  if (
    one
  ) {
    return
  }
}

export class Second {
  readonly table: Readonly<Record<string, (text: string) => void>> = {
    third: (text) => {
      say(text)
    },
  }

  async #fourth<T>(work: () => T): Promise<T> {
    return work()
  }
}

const fifth =
  (one: string) =>
  (two: string): string =>
    \`\${one}
\${two}\`

for (const each of [1, 2]) {
  run(each, () => ({
    each,
  }))
}
`
  expect(functionsOf(source)).toEqual([
    { name: 'first', line: 1, lines: 9 },
    { name: 'third', line: 13, lines: 3 },
    { name: '#fourth', line: 18, lines: 3 },
    { name: 'fifth', line: 24, lines: 4 },
    { name: '', line: 25, lines: 3 },
    { name: 'run', line: 30, lines: 3 },
  ])
})
