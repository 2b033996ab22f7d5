import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { pageOf } from './page.ts'

test('the published page says around its tables what it would say today', async () => {
  const published = await Bun.file(join(import.meta.dir, '../../../docs/background.md')).text()
  const [intro = '', rest = ''] = pageOf(['| tables |']).split('| tables |')
  expect(published.startsWith(intro)).toBe(true)
  expect(published.endsWith(rest)).toBe(true)
})
