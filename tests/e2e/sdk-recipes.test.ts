import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../support/guest.ts'
import { recipes } from '../support/recipes.ts'
import { startThrowAwayComputer } from '../support/throw-away-computer.ts'

const root = join(import.meta.dir, '../..')
/** A folder below the project, where its packages are found. */
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(root, 'target/recipes-'))
  writeFileSync(join(folder, 'report.py'), 'print("report")\n')
  for (const [name, text] of recipes) writeFileSync(join(folder, `${name}.ts`), text)
})

afterAll(() => rmSync(folder, { recursive: true }))

/** What a recipe prints. */
const printedBy = async (name: string, env: Readonly<Record<string, string>> = {}): Promise<string> => {
  const child = Bun.spawn([process.execPath, `${name}.ts`], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(stderr)
  return stdout
}

/** Those that `packages-browser.test.ts` runs. */
const forBrowsers = ['page', 'page-server']

test('every recipe of the page is run, and compiles under strict rules', async () => {
  expect([...recipes.keys()].toSorted()).toEqual(
    [...forBrowsers, 'describe', 'keep', 'user-data', 'layers', 'overlay'].toSorted(),
  )
  const options = { extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options))
  await runProgram(process.execPath, join(root, 'node_modules/.bin/tsc'), '-p', folder)
})

test('an image is described once', async () => {
  expect(await printedBy('describe')).toBe('1 3\n')
})

test('an image is kept as a file', async () => {
  const printed = await printedBy('keep')
  expect(printed).toStartWith('linux [')
  expect(printed).toContain('"numpy>=2"')
  expect(printed).toContain(
    "layer_not_for_os apt_install is not supported on 'windows' images. Supported OS types: linux",
  )
  expect(JSON.parse(readFileSync(join(folder, 'image.json'), 'utf8'))).toMatchObject({
    kind: null,
    env: { LANG: 'C.UTF-8' },
  })
})

test('a VM is built by user data', async () => {
  await printedBy('user-data')
  const text = readFileSync(join(folder, 'user-data'), 'utf8')
  expect(text).toStartWith('#cloud-config\n')
  expect(text).toContain(Buffer.from('print("report")\n').toString('base64'))
})

test('layers run on a computer that is there', async () => {
  const key = 'a-key-for-recipes'
  await using computer = await startThrowAwayComputer({ BACKLOT_COMPUTER_KEY: key })
  const printed = await printedBy('layers', { COMPUTER_URL: computer.url, BACKLOT_COMPUTER_KEY: key })
  expect(printed).toBe('layer 3 ended with 1: cat: /opt/reports/missing: No such file or directory\nsystem\n')
})

test('disks are laid over one that many share', async () => {
  await runProgram('qemu-img', 'create', '-q', '-f', 'qcow2', join(folder, 'base.qcow2'), '1M')
  expect(await printedBy('overlay')).toBe('disks/first.qcow2\ndisks/second.qcow2\n')
  await runProgram('qemu-img', 'check', '-q', join(folder, 'disks/second.qcow2'))
})
