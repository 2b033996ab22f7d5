import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../../../tests/support/scratch.ts'
import { layerHashes } from './hash.ts'
import { Image } from './image.ts'

const hashes = async (image: Image, base?: string) => (await layerHashes(image, base)).map(({ hash }) => hash)

test('a step has the hash of itself and of all before it', async () => {
  const image = Image.linux().run('one').env({ A: '1', B: '2' }).run('two')
  const all = await layerHashes(image)
  expect(all.map(({ step }) => step.type)).toEqual(['run', 'env', 'run'])
  for (const { hash } of all) expect(hash).toMatch(/^[0-9a-f]{64}$/)
  const [one, env, two] = await hashes(image)
  expect(new Set([one, env, two]).size).toBe(3)
  // What comes later changes nothing before it.
  expect(await hashes(image.run('three'))).toEqual([one, env, two, expect.any(String)] as string[])
  const [sameOne, otherEnv, otherTwo] = await hashes(Image.linux().run('one').env({ A: '1', B: '3' }).run('two'))
  expect(sameOne).toBe(one as string)
  expect(otherEnv).not.toBe(env as string)
  expect(otherTwo).not.toBe(two as string)
  // The order in which variables were named, and ports, are no content.
  expect(await hashes(Image.linux().run('one').env({ B: '2', A: '1' }).run('two').expose(80))).toEqual(
    await hashes(image),
  )
  expect(await hashes(Image.fromDict(image.toDict()))).toEqual(await hashes(image))
})

test('what an image begins with, and how exactly, is part of each hash', async () => {
  const of = async (image: Image, base?: string) => (await hashes(image.run('one'), base)).at(-1)
  const bases = [
    ...[Image.linux(), Image.linux('debian'), Image.linux({ kind: 'vm' }), Image.linux('ubuntu', '22.04')],
    ...[Image.fromRegistry('a'), Image.fromRegistry('b'), Image.fromFile('a', { osType: 'linux' })],
  ]
  const all = await Promise.all(bases.map((image) => of(image)))
  expect(new Set(all).size).toBe(bases.length)
  expect(await of(Image.fromRegistry('a'), 'sha256:1')).not.toBe(await of(Image.fromRegistry('a'), 'sha256:2'))
  expect(await of(Image.fromRegistry('a:1'), 'sha256:1')).toBe(
    (await of(Image.fromRegistry('a:2'), 'sha256:1')) as string,
  )
})

test('the bytes, names, modes and links of copied files are part of it, and nothing else of them', async () => {
  const folder = join(scratchFolder('hash'), 'files')
  mkdirSync(join(folder, 'sub'), { recursive: true })
  const file = join(folder, 'sub', 'file')
  writeFileSync(file, 'content')
  symlinkSync('sub', join(folder, 'link'))
  const now = async () => (await hashes(Image.linux().copy(folder, '/there'))).at(-1)
  const seen = [await now()]
  const changes: readonly (() => void)[] = [
    () => writeFileSync(file, 'Content'),
    () => chmodSync(file, 0o600),
    () => renameSync(file, `${file}2`),
    () => mkdirSync(join(folder, 'empty')),
    () => chmodSync(join(folder, 'empty'), 0o700),
    () => {
      rmSync(join(folder, 'link'))
      symlinkSync('empty', join(folder, 'link'))
    },
    () => writeFileSync(join(folder, 'large'), new Uint8Array(3_000_000)),
    () => writeFileSync(join(folder, 'large'), new Uint8Array(3_000_001)),
  ]
  for (const change of changes) {
    change()
    seen.push(await now())
  }
  expect(new Set(seen).size).toBe(changes.length + 1)
  // The same again, written anew, is the same.
  writeFileSync(join(folder, 'large'), new Uint8Array(3_000_001))
  expect(await now()).toBe(seen.at(-1) as string)
  rmSync(folder, { recursive: true })
  await expect(now()).rejects.toMatchObject({ code: 'file_not_found' })
})
