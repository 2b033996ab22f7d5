/**
 * Builds the tests of the crates and writes which programs they are: `bun tests/support/test-binaries.ts`.
 *
 * The list is `target/test-binaries.json`. What is built already is not built again.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const root = join(import.meta.dir, '../..')
const list = join(root, 'target', 'test-binaries.json')

/** A program that cargo has built: tests, or an example. */
export interface TestBinary {
  readonly crate: string
  /** `lib` are the tests within the crate's sources, `test` those in its folder `tests`. */
  readonly kind: 'lib' | 'test' | 'example'
  /** The target's name: the crate's own for `lib`, else that of the file or folder. */
  readonly name: string
  /** The program. */
  readonly path: string
  /** The folder of the crate, in which its tests run. */
  readonly folder: string
}

/** A line of `cargo build --message-format=json`, as far as it is read here. */
interface Message {
  readonly reason: string
  readonly manifest_path: string
  readonly target: { readonly kind: readonly string[]; readonly name: string }
  readonly profile: { readonly test: boolean }
  readonly executable: string | null
}

/** The programs that cargo's messages name, sorted. */
export function binariesOf(output: string): TestBinary[] {
  const messages = output.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Message] : []))
  const programs = messages.flatMap((message): TestBinary[] => {
    if (message.reason !== 'compiler-artifact' || message.executable === null) return []
    const { manifest_path, target, profile, executable } = message
    const isExample = target.kind.includes('example')
    if (!profile.test && !isExample) return []
    const folder = dirname(manifest_path)
    const kind = isExample ? 'example' : target.kind.includes('test') ? 'test' : 'lib'
    return [{ crate: basename(folder), kind, name: target.name, path: executable, folder }]
  })
  return programs.sort((a, b) => `${a.crate} ${a.kind}`.localeCompare(`${b.crate} ${b.kind}`))
}

/** The programs that were built last. */
export const testBinaries = (): TestBinary[] => JSON.parse(readFileSync(list, 'utf8')) as TestBinary[]

/** The path of a crate's program of tests (`test`) or of an example program. */
export function testBinary(crate: string, kind: TestBinary['kind'], name?: string): string {
  const found = testBinaries().find(
    (each) => each.crate === crate && each.kind === kind && (name === undefined || each.name === name),
  )
  if (found === undefined) throw new Error(`${list} has no ${kind} ${name ?? ''} of the crate "${crate}"`)
  return found.path
}

if (import.meta.main) {
  const wanted = ['--workspace', '--tests', '--example', 'contents']
  const command = ['cargo', 'build', '--quiet', ...wanted, '--message-format=json-render-diagnostics']
  const cargo = Bun.spawn(command, { cwd: root, stdout: 'pipe', stderr: 'inherit' })
  const [output, status] = await Promise.all([cargo.stdout.text(), cargo.exited])
  if (status !== 0) process.exit(status)
  mkdirSync(dirname(list), { recursive: true })
  writeFileSync(list, `${JSON.stringify(binariesOf(output), undefined, 2)}\n`)
}
