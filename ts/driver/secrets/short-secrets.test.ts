import { expect, test } from 'bun:test'
import { mask } from './secrets.ts'
import { ShortSecrets } from './short-secrets.ts'

const keeping = (...texts: string[]): ShortSecrets => {
  const short = new ShortSecrets()
  short.add(...texts)
  return short
}

test('what an application says is masked, and no word of ours', () => {
  const short = keeping('on', '"\\')
  expect(short.maskedIn('Confirmed: the element reads "only one on \\"\\\\".')).toBe(
    `Confirmed: the element reads "${mask}ly ${'one'.replace('on', mask)} ${mask} ${mask}".`,
  )
  expect(short.maskedIn('- [element_index 1] push button "Go on" value="on"\n- button "Confirm"')).toBe(
    `- [element_index 1] push button "Go ${mask}" value="${mask}"\n- button "C${mask}firm"`,
  )
  expect(
    short.without({ effect: 'confirmed', value: 'one', title: 'Upon', x: 7, evidence: [{ detail: 'reads "on"' }] }),
  ).toEqual({
    effect: 'confirmed',
    value: `${mask}e`,
    title: `Up${mask}`,
    x: 7,
    evidence: [{ detail: `reads "${mask}"` }],
  })
})

test('one character counts in a value, and elsewhere as a whole text', () => {
  const short = keeping('7')
  expect(short.maskedIn('- [1] entry "Room 17" value="1237" and "7"')).toBe(
    `- [1] entry "Room 17" value="123${mask}" and "${mask}"`,
  )
  expect(short.without({ label: '17', value: '17', name: '7' })).toEqual({ label: '17', value: `1${mask}`, name: mask })
})

test('a text is kept as fields take it, and only where it is short', () => {
  expect(keeping('abcd', '', ' \n').isEmpty).toBe(true)
  expect(keeping('ab \n').maskedIn('"xaby"')).toBe(`"x${mask}y"`)
  expect(keeping().maskedIn('"anything"')).toBe('"anything"')
})
