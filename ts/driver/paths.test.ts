import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { absolutePath, expandHome, writePicture } from './paths.ts'

const folder = mkdtempSync(join(tmpdir(), 'backlot-paths-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a tilde at the start is the home folder', () => {
  expect(expandHome('~/a', '/home/u')).toBe('/home/u/a')
  expect(expandHome('~', '/home/u')).toBe('/home/u')
  expect(expandHome('~other/a', '/home/u')).toBe('~other/a')
  expect(absolutePath('file', '~/a')).toBe(`${homedir()}/a`)
  expect(() => absolutePath('file', 'a/b')).toThrow('Argument "file" is "a/b". Give an absolute path')
})

test('a picture replaces the file whole, and a failure leaves nothing', async () => {
  const path = join(folder, 'a.png')
  await writePicture(path, new Uint8Array([1, 2]))
  await writePicture(path, new Uint8Array([3]))
  expect([...readFileSync(path)]).toEqual([3])
  mkdirSync(join(folder, 'b.png'))
  expect(writePicture(join(folder, 'b.png'), new Uint8Array([1]))).rejects.toMatchObject({
    code: 'screenshot_not_written',
  })
  await writePicture(join(folder, 'none', 'c.png'), new Uint8Array([1])).catch(() => undefined)
  expect(readdirSync(folder).sort()).toEqual(['a.png', 'b.png'])
})
