import { expect, test } from 'bun:test'
import { keptOf } from './environment.ts'

test('what a test may hang on by accident, and what is secret, does not reach it', () => {
  const env = { LANG: 'de_DE.UTF-8', SHELL: '/bin/zsh', PYTHONUNBUFFERED: '1', DISPLAY: ':0', BACKLOT_API_KEY: 'k' }
  expect(keptOf(env)).toEqual({})
})

test('what tools and registries need does', () => {
  const env = {
    PATH: '/usr/bin',
    https_proxy: 'http://proxy:1',
    SSL_CERT_FILE: '/a',
    NODE_EXTRA_CA_CERTS: '/b',
    CURL_CA_BUNDLE: '/c',
    PIP_INDEX_URL: 'http://index',
    npm_config_registry: 'http://registry',
    CARGO_HOME: '/cargo',
  }
  expect(keptOf({ ...env, TERM: undefined })).toEqual(env)
})
