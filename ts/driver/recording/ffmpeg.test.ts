import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { findFfmpeg } from './ffmpeg.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ffmpeg-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const real = Bun.which('ffmpeg') ?? ''

/** A project in which Backlot and `ffmpeg-static` are installed, with its file or without. */
const project = (name: string, hasFile: boolean) => {
  const packages = join(folder, name, 'node_modules')
  const own = join(packages, '@backlot', 'linux-x64', 'bin')
  const its = join(packages, 'ffmpeg-static')
  mkdirSync(own, { recursive: true })
  mkdirSync(its)
  writeFileSync(join(its, 'package.json'), '{"name":"ffmpeg-static"}')
  if (hasFile) symlinkSync(real, join(its, 'ffmpeg'))
  return { own, program: join(its, 'ffmpeg') }
}

test.skipIf(real === '')('the package that stands beside Backlot is used before PATH, and after what is named', () => {
  const { own, program } = project('whole', true)
  const PATH = process.env.PATH ?? ''
  expect(findFfmpeg({ PATH }, [own])).toBe(program)
  expect(findFfmpeg({ PATH: '' }, [folder, own])).toBe(program)
  expect(findFfmpeg({ PATH, FFMPEG_BIN: real }, [own])).toBe(real)
  expect(Bun.spawnSync([findFfmpeg({}, [own]), '-version']).stdout.toString()).toStartWith('ffmpeg version')
})

test.skipIf(real === '')('a package without its file, and one that stands elsewhere, are passed over', () => {
  const { own } = project('not built', false)
  const PATH = process.env.PATH ?? ''
  expect(findFfmpeg({ PATH }, [own])).toBe(real)
  const elsewhere = process.cwd()
  process.chdir(join(project('called there', true).own))
  try {
    expect(findFfmpeg({ PATH }, [own])).toBe(real)
  } finally {
    process.chdir(elsewhere)
  }
})

test('where there is none the failure names the way out', () => {
  const { own } = project('none', false)
  for (const env of [{ PATH: '' }, { FFMPEG_BIN: join(folder, 'missing'), PATH: process.env.PATH }]) {
    let failure: Failure | undefined
    try {
      findFfmpeg(env, [own])
    } catch (error) {
      failure = Failure.from(error)
    }
    expect(failure).toMatchObject({ code: 'missing_program', message: expect.stringContaining('FFMPEG_BIN') })
  }
})
