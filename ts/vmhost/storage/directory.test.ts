import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { directoryPath, prepareDirectory } from './directory.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlot-directory-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

describe('directoryPath', () => {
  test('takes absolute paths and the home folder', () => {
    expect(directoryPath('/srv//vms/./a/')).toBe('/srv/vms/a')
    expect(directoryPath('/')).toBe('/')
    expect(directoryPath('~')).toBe(homedir())
    expect(directoryPath('~/vms')).toBe(join(homedir(), 'vms'))
  })

  test('refuses all others by name', () => {
    for (const path of ['', 'vms', './vms', '~ada/vms', '/srv/../etc', '~/../etc', '/srv/..', '/a\0b', '/a\ud800']) {
      expect(() => directoryPath(path)).toThrow(expect.objectContaining({ code: 'invalid_directory', data: { path } }))
    }
  })
})

describe('prepareDirectory', () => {
  test('makes what is absent and leaves nothing in it', async () => {
    const path = join(folder, 'a/b')
    await prepareDirectory(path)
    await prepareDirectory(path)
    expect(await readdir(path)).toEqual([])
  })

  test('refuses what is no folder, cannot be made or cannot be written', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    for (const path of [file, join(file, 'below'), '/proc/backlot', '/sys', join(folder, 'x'.repeat(300))]) {
      await expect(prepareDirectory(path)).rejects.toMatchObject({
        code: 'invalid_directory',
        message: expect.stringContaining(`"${path}"`),
      })
    }
  })
})
