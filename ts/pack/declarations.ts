/** The types of a package in one file, with those that it takes from packages that are not published. */
import { join } from 'node:path'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { root } from './workspace.ts'

/** Gives the text of `index.d.ts` for a module of the workspace, by its path from the root. */
export const declarationsOf = async (entry: string): Promise<string> => {
  const bundle = await rollup({
    input: join(root, entry),
    external: /^(node|bun):/,
    plugins: [
      dts({
        tsconfig: join(root, 'tsconfig.json'),
        compilerOptions: { noEmit: false },
        includeExternal: ['@backlot/contract', '@sinclair/typebox'],
      }),
    ],
    onwarn: ({ message }) => {
      throw new Error(`the types of "${entry}": ${message}`)
    },
  })
  const { output } = await bundle.generate({ format: 'es' })
  await bundle.close()
  // Whoever has an older library set than `await using` needs gets that part of it.
  return `/// <reference lib="esnext.disposable" />\n${output[0].code}`
}
