/** Example programs of the crates, compiled as the product is. */
import { join } from 'node:path'

const root = join(import.meta.dir, '../../..')

/** The path of a crate's example program, once it is compiled. */
export const compiledExample = async (crate: string, name: string): Promise<string> => {
  const command = ['cargo', 'build', '--quiet', '--release', '-p', crate, '--example', name]
  const cargo = Bun.spawn(command, { cwd: root })
  if ((await cargo.exited) !== 0) throw new Error(`the example "${name}" of the crate "${crate}" does not compile`)
  return join(root, 'target', process.env.CARGO_BUILD_TARGET ?? '', 'release', 'examples', name)
}
