import { expect, test } from 'bun:test'
import { circlesOf, crates, spread, usesOf } from './modules.ts'

test('no module of a crate uses itself by way of others', () => {
  const circles = crates.flatMap((crate) => circlesOf(usesOf(crate)).map((circle) => `${crate}: ${circle.join(', ')}`))
  expect(circles).toEqual([])
})

test('modules and what they use are found', () => {
  const uses = usesOf('input')
  expect(uses.get('platform::x11::connection::settle')).toContain('platform::x11::connection::toolkit')
  // What the crate's root offers of another module is that module's.
  expect(uses.get('platform::x11::stop_key')).toContain('error')
  expect(uses.get('platform::x11::stop_key')).not.toContain('')
})

test('a tree of names is what it stands for', () => {
  expect(spread('super::a::{self, b::{C, D as E}, f}')).toEqual([
    ['super', 'a', 'self'],
    ['super', 'a', 'b', 'C'],
    ['super', 'a', 'b', 'D'],
    ['super', 'a', 'f'],
  ])
})

test('a circle is found, however long it is', () => {
  const uses = new Map(
    Object.entries({ a: ['b'], b: ['c'], c: ['a', 'd'], d: [] }).map(([name, used]) => [name, new Set(used)]),
  )
  expect(circlesOf(uses)).toEqual([['a', 'b', 'c']])
})
