/**
 * `./dev release [--publish] [--registry URL] [--packages FOLDER]`: checks and prints what a release publishes, and with
 * --publish does it.
 */
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { readTarballs } from './made.ts'
import { checksOf } from './release/checks.ts'
import { objections, planOf, publishPlan } from './release/plan.ts'
import { publicRegistry } from './release/registry.ts'
import { sizesTable } from './sizes.ts'
import { mcpName, root, workspace } from './workspace.ts'

const { values } = parseArgs({
  options: {
    publish: { type: 'boolean', default: false },
    registry: { type: 'string', default: publicRegistry },
    packages: { type: 'string', default: join(root, 'dist/packages') },
  },
})
const registry = values.registry.replace(/\/$/, '')
const { version } = workspace

const checks = checksOf(root, version, join(root, 'dist/backlot'))
const made = await readTarballs(values.packages)
const plan = await planOf(registry, made.tarballs)
const against = [
  ...checks.flatMap(({ objection }) => objection ?? []),
  ...made.tarballs.flatMap((each) => (each.version === version ? [] : `${basename(each.path)} is not ${version}.`)),
  ...(await objections(registry, plan)),
]

for (const { name, objection } of checks) console.log(`${objection === null ? 'ok ' : 'no '} ${name}`)
console.log(`\n${sizesTable(made.tarballs)}\n`)
console.log(`To ${registry}, in this order:`)
const words = { absent: 'publish', there: 'is there already', differs: 'is there with other content' } as const
for (const { tarball, state } of plan) console.log(`  ${words[state]}: ${tarball.name}@${tarball.version}`)
console.log(
  `Afterwards, by hand (docs/releasing.md): the tag v${version} with ${made.bundles.join(', ')}, and ${mcpName}.`,
)
for (const each of against) console.error(`error: ${each}`)
if (against.length > 0) process.exit(1)
if (!values.publish) {
  console.log('Nothing was published: --publish does it.')
  process.exit(0)
}
await publishPlan(registry, plan, console.log)
