import { expect, test } from 'bun:test'
import { mask, Secrets } from './secrets.ts'

const keeping = (...texts: string[]): Secrets => {
  const secrets = new Secrets()
  secrets.add(...texts)
  return secrets
}

/** As `crates/ax` prints a value: trimmed, escaped, cut at 200 characters. */
const printed = (text: string): string => {
  const characters = [...text.trim()]
  const whole = characters.slice(0, 200).join('') + (characters.length > 200 ? '…' : '')
  return whole.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

const html = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

const long = Array.from({ length: 2_000 }, (_, index) => String.fromCodePoint(0x21 + ((index * index + 7) % 90))).join(
  '',
)

const texts = [
  'correct horse',
  'pa"ss\\word',
  '  spaces around  ',
  'token-17\n',
  'one line\nand another',
  'C:\\new\\table',
  'Grüße aus 世界 😀😀',
  '<a href="x">&amp;</a>',
  '100%25 sure of it',
  '\\\\\\\\"""""',
  long,
]

/** Pieces of eight characters that a text holds, in clear or in JSON. */
const left = (secret: string, text: string): string[] =>
  Array.from({ length: Math.max(0, secret.length - 7) }, (_, at) => secret.slice(at, at + 8)).filter((piece) =>
    text.includes(piece),
  )

test('no text holds a part of a secret, however it is written', () => {
  for (const secret of texts) {
    const secrets = keeping(secret)
    const written = [
      secret,
      secret.trim(),
      printed(secret),
      JSON.stringify(secret),
      JSON.stringify({ text: JSON.stringify([secret]) }),
      JSON.stringify(printed(secret)),
      html(secret),
      JSON.stringify(html(secret)),
      encodeURIComponent(secret),
      secret.slice(0, 79),
      secret.slice(-79),
      `${secret.slice(0, 9)}\n${secret.slice(9)}`,
    ]
    for (const text of written.filter((each) => each.trim().length >= 8)) {
      const masked = secrets.masked(`<before>${text}<after>`)
      expect([text, masked.startsWith('<before>'), masked.endsWith('<after>')]).toEqual([text, true, true])
      expect([text, left(secret, masked)]).toEqual([text, []])
      expect([text, masked.includes(text)]).toEqual([text, false])
    }
  }
})

test('a mask takes the place of a secret and of nothing around it', () => {
  const secrets = keeping('correct horse', 'horse battery', 'abcd', 'abc')
  expect(
    secrets.without({ a: ['x correct horse y', 7, null], b: { 'the abcd': 'correct horse' }, d: undefined }),
  ).toEqual({
    a: [`x ${mask} y`, 7, null],
    b: { [`the ${mask}`]: mask },
    d: null,
  })
  expect(secrets.masked('a correct horse battery, abc')).toBe(`a ${mask}, abc`)
  expect(secrets.masked(JSON.stringify('a "abcd"'))).toBe(JSON.stringify(`a "${mask}"`))
  expect(keeping().masked('anything')).toBe('anything')
})

test('tags and roles of a tree stay, whatever the secret is', () => {
  const tree = '- frame = "password text"\n  - [element_index 12] password text "password" value="password text"\n'
  expect(keeping('password text', 'element_index 12', 'password').maskedTree(tree)).toBe(
    `- frame = "${mask}"\n  - [element_index 12] password text "${mask}" value="${mask}"\n`,
  )
  const record = { element_index: 3, role: 'password text', label: 'password text' }
  expect(keeping('password text').without(record)).toEqual({ ...record, label: mask })
  expect(keeping('correct horse').maskedTree('[4] correct horse')).toBe(`[4] ${mask}`)
})

test('a number or a word of JSON that an application made is masked as a text is, one of ours is not', () => {
  const secrets = keeping('123456', '00998877665544', 'true')
  const made = { n: 123456, deep: [7, 51234569, 998877665544, 1.5], is: true, no: false, true: null, s: '123456' }
  expect(secrets.withoutAny(made)).toEqual({
    n: mask,
    deep: [7, mask, mask, 1.5],
    is: mask,
    no: false,
    [mask]: null,
    s: mask,
  })
  expect(secrets.without({ pid: 123456, met: true })).toEqual({ pid: 123456, met: true })
  expect(secrets.withoutAny(undefined)).toBeNull()
})

test('what is too short to be looked for everywhere, and the mask itself, are not kept', () => {
  expect(keeping('abc', ' \n  \n ', mask).isEmpty).toBe(true)
})
