import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { version } from '@backlot/contract/version'
import { tools } from '@backlot/driver'
import { launcherManifest } from '../../ts/pack/manifests.ts'
import { bundleManifest, makeBundle, registryEntry } from '../../ts/pack/mcp.ts'
import { workspace } from '../../ts/pack/workspace.ts'
import { privateDesktop } from '../support/desktop.ts'
import { connectTo } from '../support/mcp-client.ts'
import { nodeFolder, npmPackages } from '../support/npm-packages.ts'
import { executable, platform } from '../support/packages.ts'
import { pythonWith } from '../support/python-with.ts'
import { scratchFolder } from '../support/scratch.ts'

const on = privateDesktop()

const run = async (...command: string[]) => {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { status: await child.exited, said: `${stdout}${stderr}` }
}

/** The official tool for bundles. */
const mcpb = async (...args: string[]) => {
  const modules = await npmPackages({ '@anthropic-ai/mcpb': '2.1.2' })
  return run(join(await nodeFolder(26), 'node'), join(modules, '@anthropic-ai/mcpb/dist/cli/cli.js'), ...args)
}

/** A bundle with a small program in the place of the executable, which it starts. */
const bundleIn = (folder: string): Promise<string> => {
  const program = join(folder, 'program')
  writeFileSync(program, `#!/bin/sh\nexec '${executable}' "$@"\n`, { mode: 0o755 })
  copyFileSync(`${executable}.packages.json`, `${program}.packages.json`)
  return makeBundle(workspace, platform, program, folder)
}

test('the official tool accepts the bundle, and what it unpacks serves the tools', async () => {
  const folder = scratchFolder('bundle')
  const manifest = join(folder, 'manifest.json')
  writeFileSync(manifest, JSON.stringify(bundleManifest(workspace, platform)))
  expect(await mcpb('validate', manifest)).toMatchObject({ status: 0 })
  const bundle = await bundleIn(folder)
  expect(await mcpb('info', bundle)).toMatchObject({ status: 0 })

  const unpacked = join(folder, 'unpacked')
  expect(await mcpb('unpack', bundle, unpacked)).toMatchObject({ status: 0 })
  const { name, server, tools: told, user_config } = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'))
  expect([name, told.length]).toEqual(['backlot', tools.length])
  const { command, args, env } = server.mcp_config
  const program = command.replace('${' + '__dirname}', unpacked)
  expect(program).toBe(join(unpacked, server.entry_point))
  expect(statSync(program).mode & 0o111).toBe(0o111)
  expect([Object.keys(env), Object.keys(user_config)]).toEqual([['DISPLAY'], ['display']])
  await using mcp = await connectTo(on(), [program, ...args])
  expect(mcp.client.getServerVersion()).toMatchObject({ name: 'backlot', version })
  expect((await mcp.client.listTools()).tools.map((tool) => tool.name)).toEqual(
    told.map((tool: { name: string }) => tool.name),
  )

  // The tool packs the same folder too, so a host that unpacks and packs again loses nothing.
  expect(await mcpb('pack', unpacked, join(folder, 'again.mcpb'))).toMatchObject({ status: 0 })
})

test('the entry of the MCP registry fits its schema, names the package, and has the hash of the bundle', async () => {
  const folder = scratchFolder('entry')
  const bundle = await bundleIn(folder)
  const entry = await registryEntry(workspace, platform, bundle)
  const hash = createHash('sha256').update(readFileSync(bundle)).digest('hex')
  expect(entry).toMatchObject({ version, packages: [{ identifier: 'backlot', version }, { fileSha256: hash }] })
  const checked = scratchFolder('checked')
  const write = (name: string, value: object) => writeFileSync(join(checked, name), JSON.stringify(value))
  const linter = join(dirname(await pythonWith('skillsaw==0.22.0')), 'skillsaw')
  write('package.json', launcherManifest(workspace, [platform]))
  write('server.json', entry)
  const accepted = await run(linter, 'lint', checked)
  expect(accepted).toMatchObject({ status: 0 })
  expect(accepted.said).toContain('mcp-registry')
  write('server.json', { ...entry, name: 'somebody/else', description: 'a'.repeat(101) })
  const refused = await run(linter, 'lint', checked)
  expect(refused.status).toBe(1)
  expect(refused.said).toContain("'mcpName' must exactly match server.json name 'somebody/else'")
  expect(refused.said).toContain('$.description')
})

test('a bundle is the same bytes when it is made again', async () => {
  const [one, other] = [await bundleIn(scratchFolder('one')), await bundleIn(scratchFolder('other'))]
  expect(readFileSync(one).equals(readFileSync(other))).toBe(true)
})
