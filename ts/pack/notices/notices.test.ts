import { expect, test } from 'bun:test'
import { isAccepted } from './accepted.ts'
import { noticesFor } from './notices.ts'

const part = {
  name: 'some',
  version: '1.2.3',
  license: 'MIT',
  source: 'https://example.org',
  texts: ['The license.\n'],
}

test('a license is accepted where one of the choices it leaves is', () => {
  for (const license of ['MIT', 'MIT/Apache-2.0', 'GPL-3.0-only OR MIT', '(MIT OR Apache-2.0) AND Unicode-3.0']) {
    expect({ license, accepted: isAccepted(license) }).toEqual({ license, accepted: true })
  }
})

test('copyleft, and what is no license, is not accepted', () => {
  const refused = ['GPL-3.0-only', 'AGPL-3.0-or-later', 'LGPL-2.1-or-later', 'MPL-2.0', 'MIT AND GPL-2.0-or-later']
  for (const license of [...refused, 'SEE LICENSE IN x', 'UNLICENSED', '']) {
    expect({ license, accepted: isAccepted(license) }).toEqual({ license, accepted: false })
  }
})

test('notices name each part, and print a text once that parts share', () => {
  const text = noticesFor([part, { ...part, name: 'another', texts: ['The license.\r\n', 'A notice.'] }])
  expect(text).toContain('another 1.2.3\n  MIT\n  https://example.org\nsome 1.2.3\n')
  expect(text.split('The license.').length).toBe(2)
  expect(text).toContain('another 1.2.3, some 1.2.3\n\nThe license.')
  expect(text).toContain('A notice.')
})

test('a part whose license is not accepted or has no text is refused by its name', () => {
  const wrong = [part, { ...part, name: 'copyleft', license: 'GPL-3.0-only' }, { ...part, name: 'bare', texts: [] }]
  expect(() => noticesFor(wrong)).toThrow(
    /"copyleft" 1\.2\.3: the license "GPL-3\.0-only"[\s\S]*"bare" 1\.2\.3: no text/,
  )
  // What is stated of one license says nothing of another.
  expect(() => noticesFor([{ ...part, name: '@novnc/novnc', license: 'GPL-3.0-only' }])).toThrow('"@novnc/novnc"')
})
