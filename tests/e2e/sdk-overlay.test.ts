import { expect, test } from 'bun:test'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BacklotError, createOverlay } from '@backlot/sdk'
import { runProgram } from '../support/guest.ts'
import { printedByNode, sdkFile } from '../support/node-program.ts'
import { proving } from '../support/proves.ts'
import { scratchFolder } from '../support/scratch.ts'

const failureOf = async (work: Promise<unknown>): Promise<BacklotError> => {
  try {
    await work
  } catch (error) {
    if (BacklotError.is(error)) return error
    throw error
  }
  throw new Error('nothing failed')
}

/** What qemu-img says of a disk and of those below it. */
const chainOf = async (path: string) =>
  JSON.parse(await runProgram('qemu-img', 'info', '--backing-chain', '--output=json', path)) as Record<
    string,
    unknown
  >[]

/** A disk with something on it. */
const disk = async (folder: string, format: 'qcow2' | 'raw'): Promise<string> => {
  const path = join(folder, `disk.${format}`)
  await runProgram('qemu-img', 'create', '-q', '-f', format, path, '8M')
  await runProgram('qemu-io', '-f', format, '-c', 'write -P 7 1M 64k', path)
  return path
}

for (const format of ['qcow2', 'raw'] as const) {
  test(
    `an overlay shows a backing file in ${format} and leaves it as it was`,
    proving(['sandbox.create-overlay'], async () => {
      const folder = scratchFolder('overlay')
      const backing = await disk(folder, format)
      const before = await Bun.file(backing).bytes()
      const overlay = join(folder, 'new', 'folder', 'overlay.qcow2')
      expect(await createOverlay(relative(process.cwd(), backing), overlay)).toBe(overlay)
      expect(await chainOf(overlay)).toMatchObject([
        {
          format: 'qcow2',
          'virtual-size': 8 << 20,
          'full-backing-filename': backing,
          'backing-filename-format': format,
        },
        { format, 'virtual-size': 8 << 20 },
      ])
      expect(statSync(overlay).size).toBeLessThan(1 << 20)
      await runProgram('qemu-img', 'check', '-q', overlay)
      expect(await runProgram('qemu-io', '-c', 'read -P 7 1M 64k', overlay)).not.toContain('verification failed')
      await runProgram('qemu-io', '-c', 'write -P 9 1M 64k', overlay)
      expect(Buffer.compare(await Bun.file(backing).bytes(), before)).toBe(0)
    }),
  )
}

test('what is not there, what is there already, and what is no disk are told apart', async () => {
  const folder = scratchFolder('overlay')
  const backing = await disk(folder, 'qcow2')
  const overlay = join(folder, 'overlay.qcow2')
  expect(await failureOf(createOverlay(join(folder, 'missing.qcow2'), overlay))).toMatchObject({
    code: 'file_not_found',
    message: expect.stringContaining(join(folder, 'missing.qcow2')),
  })
  expect(existsSync(overlay)).toBe(false)
  writeFileSync(overlay, 'mine')
  expect(await failureOf(createOverlay(backing, overlay))).toMatchObject({ code: 'file_exists' })
  expect(await Bun.file(overlay).text()).toBe('mine')
  expect(await failureOf(createOverlay(backing, backing))).toMatchObject({ code: 'file_exists' })
  writeFileSync(join(folder, 'broken.qcow2'), 'QFI\xfb and then something else that is no disk'.padEnd(600), 'latin1')
  expect((await failureOf(createOverlay(join(folder, 'broken.qcow2'), join(folder, 'o')))).code).toBe(
    'invalid_argument',
  )
  writeFileSync(join(folder, 'file'), '')
  expect((await failureOf(createOverlay(backing, join(folder, 'file', 'overlay')))).code).toMatch(/^(file_|invalid)/)
})

test('it works under Node, and without the native package says how to get it', async () => {
  const folder = scratchFolder('overlay-node')
  const backing = await disk(folder, 'qcow2')
  const program = `import { createOverlay } from ${sdkFile('index.ts')}
    const [, , backing, overlay] = process.argv
    await createOverlay(backing, overlay).then(console.log, (error) => console.log(error.code + ': ' + error.message))`
  const overlay = join(folder, 'overlay.qcow2')
  expect(await printedByNode(program, [backing, overlay])).toBe(`${overlay}\n`)
  expect(await chainOf(overlay)).toHaveLength(2)
  const without = await printedByNode(program, [backing, join(folder, 'other')], ['@backlot/native'])
  expect(without).toStartWith('unsupported: Making a disk needs the package "@backlot/native"')
  expect(without).toContain('npm install @backlot/native')
})
