/** The SDK for runtimes that have `fetch` and neither files nor processes: browsers, and those at the edge. */
import { join } from 'node:path'
import type { Plugin } from 'rollup'
import { root } from './workspace.ts'

/** Folders of what needs this machine: it is loaded only by Node and Bun. */
const ofMachine = [
  'build/web-app',
  'local',
  'runtimes/container',
  'runtimes/emulator',
  'runtimes/qemu',
  'runtimes/vmhost',
]

const needsMachine = (id: string): boolean =>
  ofMachine.some((folder) => id.startsWith(`${join(root, 'ts/sdk', folder)}/`))

/** Asks whether this is Node: here that is settled, because some runtimes and bundlers imitate a part of it. */
const question = join(root, 'ts/sdk/node.ts')
const answer = /(?<=isNode = \(\) => ).*/

const absent = '\0absent'

/** Leaves out what works with files and processes, and the `packages` that it is made with. */
export const fetchOnly = (packages: readonly string[]): Plugin => ({
  name: 'fetch-only',
  async resolveDynamicImport(name, importer) {
    if (typeof name !== 'string') return null
    if (/^(node|bun):/.test(name) || packages.includes(name)) return absent
    const found = await this.resolve(name, importer)
    return found !== null && needsMachine(found.id) ? absent : null
  },
  load: (id) => (id === absent ? `throw new Error('This part of @backlot/sdk needs Node or Bun.')` : null),
  transform(text, id) {
    if (id !== question) return null
    if (!answer.test(text)) throw new Error(`"${id}" has no \`isNode\` that could be settled`)
    return text.replace(answer, 'false')
  },
})
