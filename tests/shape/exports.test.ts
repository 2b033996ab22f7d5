import { expect, test } from 'bun:test'
import { files, read } from './sources.ts'

const indexes = files.filter((file) => /^ts\/[^/]+\/index\.ts$/.test(file))
/** Its names are read by users, not by us. */
const published = 'ts/sdk/index.ts'
const code = files.filter((file) => /^(ts|tests)\/.*\.ts$/.test(file))

test('an index lists its names by hand', () => {
  expect(indexes.filter((file) => /export \*/.test(read(file)))).toEqual([])
})

test('what an index exports is imported by somebody else', () => {
  const dead = indexes
    .filter((index) => index !== published)
    .flatMap((index) => {
      const name = index.split('/')[1]
      const users = code.filter((file) => !file.startsWith(`ts/${name}/`)).map(read)
      const imported = users
        .flatMap((text) => [...text.matchAll(/^(?:import|export) \{([^}]*)\} from '([^']+)'/gm)])
        .filter(([, , from]) => from === `@backlot/${name}`)
        .flatMap(([, names = '']) => names.split(','))
        .map(
          (each) =>
            each
              .trim()
              .replace(/^type /, '')
              .split(' as ')[0],
        )
      // Types are exported for whoever has to name what a function gives; only values can be dead.
      const exported = [...read(index).matchAll(/^export \{([^}]*)\}/gm)]
        .flatMap(([, names = '']) => names.split(','))
        .map((each) => each.trim())
        .filter((each) => each !== '' && !each.startsWith('type '))
      return exported.filter((each) => !imported.includes(each)).map((each) => `${index}: ${each}`)
    })
  expect(dead).toEqual([])
})
