import { expect, test } from 'bun:test'
import { join, normalize } from 'node:path'
import { read } from './sources.ts'

const reference = read('docs/reference/sdk.md')
const page = 'docs/vm-sandboxes.md'

/** The methods of a class as its reference lists them: static ones by its name, others by that of an instance. */
const methodsOf = (name: string, instance: string): string[] => {
  const [, section = ''] = reference.split(`\n### \`${name}\`\n`)
  const [members = ''] = section.split('\n### ')
  return [...members.matchAll(/^- `(static |readonly )?(\[?[\w.]+\]?)(\(|: \()/gm)].map(([, how, method = '']) => {
    if (how === 'static ') return `${name}.${method}`
    return method.startsWith('[') ? `${instance}${method}` : `${instance}.${method}`
  })
}

const rows = read(page)
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [, method = '', witness = '', ...tests] = line.split('|').map((cell) => cell.trim())
    const files = tests.flatMap((cell) => /\]\(([^)]+)\)/.exec(cell)?.[1] ?? [])
    return { method: method.replaceAll('`', ''), witness, files: files.map((file) => normalize(join('docs', file))) }
  })

test('each method of a sandbox, a snapshot and a pool has a test and a witness on both runtimes', () => {
  const methods = [methodsOf('Sandbox', 'sandbox'), methodsOf('Snapshot', 'snapshot'), methodsOf('WarmPool', 'pool')]
  expect(methods.map((each) => each.length > 2)).toEqual([true, true, true])
  const listed = rows.map(({ method }) => method)
  expect(methods.flat().filter((method) => !listed.includes(method))).toEqual([])
  expect(listed.filter((method, index) => listed.indexOf(method) !== index)).toEqual([])
  expect(rows.filter(({ witness, files }) => witness === '' || files.length !== 2)).toEqual([])
})

/** How a test calls it. */
const callOf = (method: string): string => {
  if (method.includes('[')) return 'await using '
  return /^[A-Z]/.test(method) ? `${method}(` : `${method.slice(method.indexOf('.'))}(`
}

test('each is called where the table says', () => {
  const missing = rows.flatMap(({ method, files }) =>
    files.filter((file) => !read(file).includes(callOf(method))).map((file) => `${method} in ${file}`),
  )
  expect(missing).toEqual([])
})
