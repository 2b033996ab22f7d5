import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { read, root } from './sources.ts'

const home = mkdtempSync(join(tmpdir(), 'backlot-startup-'))
const socket = join(home, 'daemon')
const env = { ...process.env, BACKLOT_HOME: home, LOADED_MODULES: join(home, 'modules') }
const bun = process.execPath
const preload = ['--preload', join(import.meta.dir, 'loaded-modules.ts')]
const program = (name: 'main' | 'backlot-driver') => join(root, 'ts/cli', `${name}.ts`)

let daemon: Bun.ReadableSubprocess

beforeAll(async () => {
  daemon = Bun.spawn([bun, program('backlot-driver'), 'serve', '--socket', socket], { env, stderr: 'pipe' })
  for await (const _ of daemon.stderr) break
})

afterAll(async () => {
  daemon.kill()
  await daemon.exited
  rmSync(home, { recursive: true })
})

/** Runs the executable's sources to their end, and gives the parts of the project and the npm packages it loaded. */
async function loadedBy(args: string[], input = '', isDone?: (output: string) => boolean) {
  const child = Bun.spawn([bun, ...preload, program('main'), ...args], {
    env,
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let output = ''
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    output += part
    if (isDone?.(output)) child.kill('SIGTERM')
  }
  expect({ status: await child.exited, error: isDone ? '' : await child.stderr.text() }).toMatchObject({ status: 0 })
  const modules = readFileSync(env.LOADED_MODULES, 'utf8')
    .split('\n')
    .map((path) => relative(root, path))
  const external = modules.flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? [])
  return {
    own: modules.filter((path) => path.startsWith('ts/')).sort(),
    packages: [...new Set(modules.flatMap((path) => path.match(/^ts\/([^/]+)/)?.[1] ?? []))].sort(),
    external: [...new Set(external)].sort(),
  }
}

/** What of the package `native` loads no native core. */
const withoutCore = ['ts/native/durable.ts']
const nativeIn = (own: readonly string[]) => own.filter((path) => path.startsWith('ts/native/'))

test('a tool called from the shell loads the way to the daemon and nothing else', async () => {
  const { own, external } = await loadedBy(['get_config', '{}', '--socket', socket])
  expect(external).toEqual([])
  expect(own).toEqual([
    'ts/cli/executable.ts',
    'ts/cli/main.ts',
    'ts/cli/registry.ts',
    'ts/cli/terminal/output.ts',
    'ts/cli/tool-call.ts',
    'ts/contract/display.ts',
    'ts/contract/failure.ts',
    'ts/contract/failures/calls.ts',
    'ts/contract/failures/commands.ts',
    'ts/contract/failures/computer.ts',
    'ts/contract/failures/desktop.ts',
    'ts/contract/failures/disks.ts',
    'ts/contract/failures/elements.ts',
    'ts/contract/failures/http.ts',
    'ts/contract/failures/images.ts',
    'ts/contract/failures/kind.ts',
    'ts/contract/failures/pages.ts',
    'ts/contract/failures/sandboxes.ts',
    'ts/contract/failures/vms.ts',
    'ts/contract/limits.ts',
    'ts/contract/limits/actions.ts',
    'ts/contract/limits/daemon.ts',
    'ts/contract/limits/environment.ts',
    'ts/contract/limits/network.ts',
    'ts/contract/limits/observation.ts',
    'ts/contract/limits/pages.ts',
    'ts/contract/limits/private-desktop.ts',
    'ts/contract/limits/servers.ts',
    'ts/contract/limits/sessions.ts',
    'ts/contract/limits/vm-host.ts',
    'ts/contract/places.ts',
    'ts/contract/version.ts',
    'ts/driver/edges/address.ts',
    'ts/driver/edges/client/connection.ts',
    'ts/driver/edges/client/launch.ts',
    'ts/driver/edges/client/shell.ts',
    'ts/driver/edges/daemon/outbox.ts',
    'ts/driver/edges/folder.ts',
    'ts/driver/edges/lines.ts',
    'ts/driver/edges/owner.ts',
    'ts/driver/tool/result.ts',
  ])
  // The file system of node alone takes as long to load as all of these.
  const ofNode = own.flatMap((path) => read(path).match(/^import (?!type )[^'\n]* from 'node:[^']+'/gm) ?? [])
  expect(ofNode).toEqual([])
})

test('`mcp` with a daemon loads neither the native core nor the VM host', async () => {
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'shape', version: '1' } }
  const messages = [
    { id: 1, method: 'initialize', params: client },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: { name: 'get_config', arguments: {} } },
  ]
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
  const { own, packages, external } = await loadedBy(['mcp', '--socket', socket], input)
  expect(packages).toEqual(['cli', 'contract', 'driver', 'native'])
  expect(nativeIn(own)).toEqual(withoutCore)
  expect(external.filter((name) => /elysia|napi/.test(name))).toEqual([])
  expect(external).toContain('@modelcontextprotocol/sdk')
})

test('`serve` loads neither the tools nor MCP', async () => {
  const { own, external } = await loadedBy(['serve', '--port', '0'], '', (output) => output.includes('\n'))
  expect(nativeIn(own)).toEqual([...withoutCore, 'ts/native/machine.ts', 'ts/native/proc-stat.ts'])
  expect(own.filter((path) => /^ts\/driver\/(index|registry|tools)/.test(path))).toEqual([])
  expect(external.filter((name) => /modelcontextprotocol|zod/.test(name))).toEqual([])
  expect(external).toContain('elysia')
})
