import { expect, test } from 'bun:test'
import { xAuthority } from './x-cookie.ts'

test('the key is written as Xau reads it', () => {
  const cookie = Uint8Array.from({ length: 16 }, (_, index) => index)
  const name = Buffer.from('MIT-MAGIC-COOKIE-1').toString('hex')
  expect(xAuthority(cookie).toString('hex')).toBe(`ffff000000000012${name}0010000102030405060708090a0b0c0d0e0f`)
})
