import { expect, test } from 'bun:test'
import { type FunctionLength, functionsOf, rustFunctionsOf } from './functions.ts'
import { files, isGenerated, read } from './sources.ts'

/** Lines that a reader takes in at a glance. */
const most = 50

const sources = files.filter((file) => /^ts\/.*\.tsx?$/.test(file) && !file.includes('.test.') && !isGenerated(file))

/** The functions of a file that are longer than that. */
const tooLong = (file: string, functions: readonly FunctionLength[]): string[] =>
  functions
    .filter(({ lines }) => lines > most)
    .map(({ name, line, lines }) => `${file}:${line}: ${name} has ${lines} lines`)

test('no function of a package is longer than a reader takes in', () => {
  expect(sources.flatMap((file) => tooLong(file, functionsOf(read(file))))).toEqual([])
})

test('nor is one of a crate', () => {
  const rust = files.filter(
    (file) => /^crates\/[^/]+\/(src|examples)\/.*\.rs$/.test(file) && !file.endsWith('tests.rs'),
  )
  const withoutTests = (file: string): string => read(file).split('#[cfg(test)]\nmod tests {')[0] ?? ''
  expect(rust.flatMap((file) => tooLong(file, rustFunctionsOf(withoutTests(file))))).toEqual([])
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

test('so are those of Rust', () => {
  const source = `pub(crate) fn first(
    one: &str,
) -> bool {
    let second = || {
        one.is_empty()
    };

    second()
}

trait Third {
    fn fourth(&self) -> u32;

    /// Something.
    const fn fifth() {}

    fn sixth<T>(&self) -> T
    where
        T: Default,
    {
        T::default()
    }
}
`
  expect(rustFunctionsOf(source)).toEqual([
    { name: 'first', line: 1, lines: 9 },
    { name: 'fourth', line: 12, lines: 1 },
    { name: 'fifth', line: 15, lines: 1 },
    { name: 'sixth', line: 17, lines: 6 },
  ])
})
