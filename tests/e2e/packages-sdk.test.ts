import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { version } from '@backlot/contract/version'
import { nativePackage } from '../../ts/pack/platforms.ts'
import { startComputer, type TestComputer } from '../support/computer.ts'
import { nodeFolder } from '../support/npm-packages.ts'
import { platform, publishedPackages } from '../support/packages.ts'

const packages = publishedPackages(['@backlot/sdk', '@backlot/native', nativePackage(platform)])

/** Projects that have the SDK and nothing else of Backlot. */
let byNpm: string
let byBun: string
/** A computer elsewhere, which asks for a key. */
let computer: TestComputer

beforeAll(async () => {
  ;[byNpm, byBun, computer] = await Promise.all([
    packages().project('npm', ['@backlot/sdk']),
    packages().project('bun', ['@backlot/sdk']),
    startComputer(['--desktop', '--port', '0'], { BACKLOT_COMPUTER_KEY: 'key' }),
  ])
})

afterAll(() => computer[Symbol.asyncDispose]())

/** Runs a program as a module of a project, under each runtime, and gives what it prints. */
const everywhere = async (text: string): Promise<Record<string, unknown>> => {
  const runtimes: [name: string, runtime: string, project: string][] = [
    ['Node 20', join(await nodeFolder(20), 'node'), byNpm],
    ['Node 26', join(await nodeFolder(26), 'node'), byNpm],
    ['Bun', process.execPath, byBun],
  ]
  const said: Record<string, unknown> = {}
  for (const [name, runtime, project] of runtimes) {
    const file = join(project, `${Bun.randomUUIDv7()}.mjs`)
    await writeFile(file, text)
    const child = Bun.spawn([runtime, file], {
      cwd: project,
      // Nothing leads to an executable, or to a display.
      env: { HOME: project, PATH: dirname(runtime), COMPUTER: computer.url },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
    said[name] = (await child.exited) === 0 && stderr === '' ? JSON.parse(stdout) : `${stdout}${stderr}`
  }
  return said
}

const each = (expected: unknown) => ({ 'Node 20': expected, 'Node 26': expected, Bun: expected })

test('a program without the executable uses a computer elsewhere, over HTTP and WebSocket', async () => {
  for (const name of ['HTTPTransport', 'WebSocketTransport']) {
    const file = join(computer.home, name)
    const said = await everywhere(`
      import { ${name} } from '@backlot/sdk'
      const transport = new ${name}(process.env.COMPUTER, { apiKey: 'key' })
      await transport.connect()
      await transport.send('write_text', { path: ${JSON.stringify(file)}, content: 'Grüße' })
      const { size } = await transport.send('get_screen_size')
      const { content } = await transport.send('read_text', { path: ${JSON.stringify(file)} })
      const failed = await transport.send('read_text', { path: '/nowhere' }).catch(({ name, code }) => [name, code])
      await transport.disconnect()
      console.log(JSON.stringify([size.width > 0, content, failed]))`)
    expect(said).toEqual(each([true, 'Grüße', ['NotFoundError', 'file_not_found']]))
    expect(await readFile(file, 'utf8')).toBe('Grüße')
  }
})

test('a program without the executable that wants to act here is told what to install', async () => {
  const said = await everywhere(`
    import { BacklotError, Localhost } from '@backlot/sdk'
    const error = await Localhost.connect().catch((error) => error)
    console.log(JSON.stringify([BacklotError.is(error), error.name, error.code, error.message]))`)
  expect(said).toEqual(
    each([true, 'UnavailableError', 'executable_not_found', expect.stringContaining('npm install backlot')]),
  )
})

test('every class has in the package the name that it is imported by', async () => {
  const said = await everywhere(`
    import * as sdk from '@backlot/sdk'
    const classes = Object.entries(sdk).filter(([name, value]) => typeof value === 'function' && /^[A-Z]/.test(name))
    console.log(JSON.stringify([classes.length > 15, classes.filter(([name, value]) => value.name !== name)]))`)
  expect(said).toEqual(each([true, []]))
})

test('the package loads nothing of Node and no other package when it is imported', async () => {
  const folder = join(byNpm, 'node_modules/@backlot/sdk')
  const reached = new Set(['index.js'])
  for (const file of reached) {
    const text = await readFile(join(folder, file), 'utf8')
    for (const { path, kind } of new Bun.Transpiler({ loader: 'js' }).scanImports(text)) {
      if (kind === 'import-statement') expect({ file, path }).toEqual({ file, path: expect.stringMatching(/^\.\//) })
      if (kind === 'import-statement') reached.add(path.slice(2))
    }
  }
  expect(reached.size).toBeLessThan((await readdir(folder)).filter((name) => name.endsWith('.js')).length)
  expect(existsSync(join(byNpm, 'node_modules/backlot'))).toBe(false)
  expect(existsSync(join(byNpm, 'node_modules/@backlot/native'))).toBe(false)
})

test('the native core works in Node and Bun, and says which package is missing', async () => {
  const loading = `
    import { createDisk, version } from '@backlot/native'
    const path = new URL('disk.qcow2', import.meta.url).pathname
    await createDisk(path, 1024 * 1024)
    console.log(JSON.stringify([version(), path]))`
  for (const by of ['npm', 'bun'] as const) {
    const project = await packages().project(by, ['@backlot/native'])
    const file = join(project, 'native.mjs')
    await writeFile(file, loading)
    const runtime = by === 'bun' ? process.execPath : join(await nodeFolder(20), 'node')
    const run = () => Bun.spawnSync([runtime, file], { cwd: project, env: { HOME: project } })
    const [told, disk] = JSON.parse(run().stdout.toString())
    expect(told).toBe(version)
    const info = JSON.parse(Bun.spawnSync(['qemu-img', 'info', '--output=json', disk]).stdout.toString())
    expect(info).toMatchObject({ format: 'qcow2', 'virtual-size': 1024 * 1024 })
    await rm(join(project, 'node_modules', nativePackage(platform)), { recursive: true })
    const without = run()
    expect([without.success, without.stdout.toString()]).toEqual([false, ''])
    expect(without.stderr.toString()).toContain(nativePackage(platform))
  }
})
