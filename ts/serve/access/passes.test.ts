import { describe, expect, test } from 'bun:test'
import { consoleAccess } from '@backlot/contract/limits'
import { Passes } from './passes.ts'

const make = (key = 'open sesame', port = 7777, realm = 'console') => {
  const clock = { ms: 1_700_000_000_000 }
  const asked = { key }
  const [keyNow, now] = [() => asked.key, () => clock.ms]
  return { clock, asked, passes: new Passes(keyNow, realm, port, now) }
}

const pass = (cookie: string | undefined): string => cookie?.split(';')[0] ?? ''

describe('a link', () => {
  test('works once', () => {
    const { passes } = make()
    const link = passes.newLink()
    expect(passes.visit(link)).toMatch(/^backlot-7777=\d+\.[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/)
    expect(passes.visit(link)).toBeUndefined()
  })

  test('is no other, and void when it is old', () => {
    const { passes, clock } = make()
    const [first, second] = [passes.newLink(), passes.newLink()]
    expect(first).not.toBe(second)
    for (const wrong of [undefined, '', 'nothing', first.slice(1)]) expect(passes.visit(wrong)).toBeUndefined()
    clock.ms += consoleAccess.linkMs
    expect(passes.visit(first)).toBeDefined()
    clock.ms += 1
    expect(passes.visit(second)).toBeUndefined()
  })

  test('is void once the key is another', () => {
    const { passes, asked } = make()
    const link = passes.newLink()
    asked.key = 'another'
    expect(passes.visit(link)).toBeUndefined()
    expect(passes.visit(passes.newLink())).toBeDefined()
  })
})

describe('a pass', () => {
  test('is known among other cookies, also by the next run of the server', () => {
    const { passes } = make()
    const held = pass(passes.visit(passes.newLink()))
    expect(passes.isHeldBy(`theme=dark; ${held};a=b`)).toBe(true)
    expect(make().passes.isHeldBy(held)).toBe(true)
  })

  test('to look on is none to act, and the other way round', () => {
    const { passes } = make()
    const [act, look] = [pass(passes.visit(passes.newLink())), pass(passes.visit(passes.newLink('look')))]
    expect([passes.isHeldBy(act), passes.isHeldBy(act, 'look')]).toEqual([true, false])
    expect([passes.isHeldBy(look), passes.isHeldBy(look, 'look')]).toEqual([false, true])
    // Under the name of the other it proves nothing.
    expect(passes.isHeldBy(look.replace('backlot-look-', 'backlot-'))).toBe(false)
    expect(passes.isHeldBy(`${look}; ${act}`)).toBe(true)
  })

  test('ends, and is worth nothing changed, with another key, at another port or for something else', () => {
    const { passes, clock } = make()
    const held = pass(passes.visit(passes.newLink()))
    const [, end = '', proof = ''] = /=(\d+)\.(.*)/.exec(held) ?? []
    for (const forged of [
      '',
      `backlot-7777=${Number(end) + 1}.${proof}`,
      `backlot-7777=${end}.${'A'.repeat(43)}`,
      `backlot-7777=${end}.${proof}x`,
      `xbacklot-7777=${end}.${proof}`,
    ]) {
      expect([forged, passes.isHeldBy(forged)]).toEqual([forged, false])
    }
    expect(make('another').passes.isHeldBy(held)).toBe(false)
    expect(make('open sesame', 7778).passes.isHeldBy(held)).toBe(false)
    expect(make('open sesame', 7777, 'view').passes.isHeldBy(held)).toBe(false)
    clock.ms += consoleAccess.passSeconds * 1000 + 1000
    expect(passes.isHeldBy(held)).toBe(false)
  })
})
