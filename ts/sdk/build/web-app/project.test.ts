import { expect, test } from 'bun:test'
import { isPackageName, packageNameOf } from './project.ts'

test('a package is named by the host name reversed, in what Android takes', () => {
  const names = [
    'https://app.my-site.org/x',
    'http://localhost:8080/',
    'http://127.0.0.1/',
    'https://3.xn--bcher-kva.de',
    'http://[::1]/',
  ]
  expect(names.map(packageNameOf)).toEqual([
    'org.my_site.app',
    'localhost.app',
    'a1.a0.a0.a127',
    'de.xn__bcher_kva.a3',
    'a1.app',
  ])
  expect(names.map(packageNameOf).every(isPackageName)).toBe(true)
  expect(['shop', 'org.3shop', 'org..shop', 'org.shop"', 'org.shöp'].some(isPackageName)).toBe(false)
})
