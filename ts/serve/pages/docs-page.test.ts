import { expect, test } from 'bun:test'
import { docsPage } from './docs-page.ts'

const parts = { style: '/view/docs.css', links: { View: '/view' }, notices: 'made with <care>' }

test('text is no markup, and what stands between back quotes is code', () => {
  const page = docsPage({ info: { title: '<b>"&', version: '1', description: '`a<b`' }, paths: {} }, parts)
  expect(page).toContain('&lt;b&gt;&quot;&amp;')
  expect(page).toContain('<code>a&lt;b</code>')
  expect(page).toContain('made with &lt;care&gt;')
})

test('the style and the other pages are those of the server', () => {
  const page = docsPage({ info: { title: 'T', version: '1', description: '' }, paths: {} }, parts)
  expect(page).toContain('<link rel="stylesheet" href="/view/docs.css">')
  expect(page).toContain('<a href="/view">View</a></p>')
})
