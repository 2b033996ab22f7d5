import { expect, test } from 'bun:test'
import { Events, type NumberedEvent } from './events.ts'

const vm = (name: string) => ({ type: 'vm', name, location: 'home', status: 'stopped' }) as const

const follow = (events: Events, last?: string) => {
  const seen: NumberedEvent[] = []
  const end = events.follow(last, (event) => seen.push(event))
  return { seen, end, names: () => seen.map(({ event }) => (event.type === 'vm' ? event.name : event.type)) }
}

test('who follows gets what happens from then on, until it ends', () => {
  const events = new Events('r', 10)
  events.emit(vm('before'))
  const first = follow(events)
  events.emit(vm('one'))
  first.end()
  events.emit(vm('two'))
  expect(first.names()).toEqual(['one'])
})

test('who comes back gets what it missed, and nothing twice', () => {
  const events = new Events('r', 10)
  const first = follow(events)
  for (const name of ['one', 'two', 'three']) events.emit(vm(name))
  expect(follow(events, first.seen[0]?.id).names()).toEqual(['two', 'three'])
  expect(follow(events, first.seen[2]?.id).names()).toEqual([])
})

test('who missed more than is kept, or comes from another run, is told to read afresh', () => {
  const events = new Events('r', 2)
  for (const name of ['one', 'two', 'three']) events.emit(vm(name))
  expect(follow(events, 'r-1').names()).toEqual(['two', 'three'])
  for (const id of ['r-0', 'r-9', 'other-2', 'nonsense', '-', 'r-']) {
    const back = follow(events, id)
    events.emit(vm('next'))
    expect([id, back.names()]).toEqual([id, ['reset', 'next']])
    back.end()
  }
})
