import { expect, test } from 'bun:test'
import { basename, dirname } from 'node:path'
import { files, read } from './sources.ts'

/** Sources that a reader takes in at a glance. */
const most = 16

/** Lists of like things, one file each. */
const lists = ['ts/driver/tools', 'ts/cli/commands', 'ts/sdk/interfaces']

test('no folder of a package or crate holds more sources than a reader takes in', () => {
  const counts = new Map<string, number>()
  const isSource = (file: string): boolean =>
    /^ts\/.*\.tsx?$/.test(file) ? !file.includes('.test.') : /^crates\/[^/]+\/src\/.*\.rs$/.test(file)
  for (const file of files.filter(isSource)) {
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  }
  const full = [...counts].filter(([folder, count]) => count > most && !lists.includes(folder))
  expect(full).toEqual([])
})

/** The room of a source, as docs/architecture.md names it: `driver/page/`, `ax/linux/bus/`. */
const roomOf = (file: string): string =>
  `${dirname(file)
    .replace(/^(?:ts|crates)\//, '')
    .replace(/^([^/]+)\/src/, '$1')}/`

test('docs/architecture.md names every room, and none that is not there', () => {
  const rows = read('docs/architecture.md')
    .split('\n')
    .flatMap((line) => {
      const [, names = '', text = ''] = /^\| (`[\w./-]+\/`(?:, `[\w./-]+\/`)*) \| (.*) \|$/.exec(line) ?? []
      return [...names.matchAll(/`([^`]+)`/g)].map(([, room = '']) => ({ room, text }))
    })
  const sources = files.filter(
    (file) => /^(ts|crates\/[^/]+\/src)\/.*\.(tsx?|rs|js)$/.test(file) && !file.includes('.test.'),
  )
  const rooms = [...new Set(sources.map(roomOf))]
  const isNamed = (room: string): boolean =>
    rows.some((row) => row.room === room || (room.startsWith(row.room) && hasWord(row.text, basename(room))))
  // The list of packages and crates names the outermost.
  expect(rooms.filter((room) => room.split('/').length > 2 && !isNamed(room))).toEqual([])
  expect(rows.filter(({ room }) => !rooms.some((each) => each.startsWith(room)))).toEqual([])
})

/** Whether a text in Markdown names the folder, alone or after the one above it. */
const hasWord = (text: string, folder: string): boolean => new RegExp(`[\`/]${folder}/\``).test(text)
