import { expect, test } from 'bun:test'
import { hostname } from 'node:os'
import { isPublicName, loopbackNames } from './names.ts'

test('on loopback a server has the names of loopback, with its port', () => {
  expect(loopbackNames('127.0.0.5', 7777)).toEqual(['localhost:7777', '127.0.0.1:7777', '[::1]:7777', '127.0.0.5:7777'])
  expect(loopbackNames('::1', 80)).toContain('[::1]')
})

test('beyond loopback it has addresses in numbers, the names of the machine and those that it was given', () => {
  const known = (host: string) => isPublicName(host, '0.0.0.0', ['vms.example.com'])
  for (const host of [
    '192.0.2.7:7777',
    '192.0.2.7',
    '[2001:db8::1]:7777',
    'localhost:1',
    `${hostname().toLowerCase()}:7777`,
    'vms.example.com:8443',
  ]) {
    expect([host, known(host)]).toEqual([host, true])
  }
  for (const host of [
    '',
    'rebound.example.com:7777',
    'example.com',
    'evil.vms.example.com',
    '127.0.0.1.example.com',
    '127.0.0.1@evil',
    'localhost, 127.0.0.1',
    '[evil]:7777',
    '[192.0.2.7]',
    '192.0.2.7:port',
  ]) {
    expect([host, known(host)]).toEqual([host, false])
  }
})
