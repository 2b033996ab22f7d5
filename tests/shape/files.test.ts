import { expect, test } from 'bun:test'
import { globSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename } from 'node:path'
import { files, isGenerated, placesOf, read, root } from './sources.ts'

const sources = files.filter((file) => /\.(ts|tsx|rs|py|sh|c)$/.test(file) && !isGenerated(file))

test('no source file has 600 lines', () => {
  const large = sources
    .map((file) => ({ file, lines: read(file).split('\n').length }))
    .filter(({ lines }) => lines >= 600)
  expect(large).toEqual([])
})

test('TypeScript files are kebab-case and Rust files snake_case', () => {
  const wrong = sources.filter(
    (file) =>
      (file.endsWith('.ts') && !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*\.ts$/.test(basename(file))) ||
      (file.endsWith('.rs') && !/^[a-z0-9]+(_[a-z0-9]+)*\.rs$/.test(basename(file))),
  )
  expect(wrong).toEqual([])
})

test('no file or folder is named after no subject', () => {
  const banned = /(^|[/_.-])(utils?|helpers?|common|misc|(?<!window[-_])manager|impl)([/_.-]|$)/
  expect(files.filter((file) => banned.test(file))).toEqual([])
})

test('no comment speaks of work to come, and no line escapes a check without a reason', () => {
  // Spelled so that this file does not match itself.
  const words = ['TO' + 'DO', 'FIX' + 'ME', '@ts-' + 'ignore', '@ts-' + 'nocheck', 'as ' + 'any\\b']
  expect(placesOf(sources, new RegExp(words.join('|')))).toEqual([])
  expect(placesOf(sources, /biome-ignore [\w/]+\s*(:\s*)?(\*\/)?$/)).toEqual([])
  const tests = sources.filter((file) => file.endsWith('.test.ts'))
  expect(placesOf(tests, /\b(test|describe|it)\.(skip|todo|only|failing)\(/)).toEqual([])
})

test('no file names a path of this machine or a mirror of a registry', () => {
  const text = files.filter(
    (file) => /\.(ts|rs|toml|json|lock|md|sh|py|yml|txt)$/.test(file) || /^(dev|\.ci\/run)$/.test(file),
  )
  const here = [root, homedir()].filter((folder) => folder.split('/').length > 2).map((folder) => RegExp.escape(folder))
  expect(placesOf(text, new RegExp(`(${[...here, '/ro' + 'ot'].join('|')})/`))).toEqual([])
  const known = /https?:\/\/(registry\.npmjs\.org|github\.com|pypi\.org|index\.crates\.io)\b/
  const locked = files.filter((file) => file.endsWith('.lock'))
  expect(placesOf(locked, /https?:\/\//).filter((line) => !known.test(line))).toEqual([])
})

test('every package and crate has the version of the root manifest', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  for (const manifest of globSync('ts/*/package.json', { cwd: root })) {
    expect({ manifest, version: JSON.parse(read(manifest)).version }).toEqual({ manifest, version })
  }
  expect(read('Cargo.toml')).toContain(`\nversion = "${version}"\n`)
  for (const manifest of globSync('crates/*/Cargo.toml', { cwd: root })) {
    expect(read(manifest)).toContain('\nversion.workspace = true\n')
  }
})
