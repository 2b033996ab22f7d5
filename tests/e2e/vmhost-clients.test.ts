import { afterAll, beforeAll, expect, test } from 'bun:test'
import { seenBy, withVm } from '../support/python-clients.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { giveImage } from '../support/vms.ts'

const minutes = 60_000
let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
  await giveImage(host)
})

afterAll(() => host[Symbol.asyncDispose]())

test(
  'pylume makes a VM, changes, runs, stops, clones and deletes it',
  async () => {
    expect(await seenBy(host, 'pylume', 'pylume_life.py')).toEqual({
      made: ['py', 'linux', 'stopped', 1, 64 * 2 ** 20, 2 ** 30],
      changed: 2,
      'never stopped': true,
      screen: true,
      list: ['py', 'py-copy'],
      left: [],
      gone: true,
    })
  },
  5 * minutes,
)

test(
  'cua-computer finds, runs, stops and deletes a VM',
  () =>
    withVm(host, async () => {
      expect(await seenBy(host, 'computer', 'computer_life.py')).toEqual({
        stopped: ['stopped', false],
        missing: true,
        run: false,
        address: expect.stringMatching(/^127\.77\.\d+\.\d+$/),
        deleted: true,
        gone: true,
      })
    }),
  5 * minutes,
)

test(
  'cua-sandbox forks a VM, keeps a checkpoint of the running one, and deletes both',
  () =>
    withVm(host, async () => {
      expect(await seenBy(host, 'sandbox', 'sandbox_life.py')).toEqual({
        base: 'py',
        address: expect.stringMatching(/^127\.77\.\d+\.\d+$/),
        ready: true,
        checkpoint: 'cua-ckpt-first',
        list: ['cua-ckpt-first', 'py', 'py-fork'],
        checkpoints: ['cua-ckpt-first'],
        left: ['py'],
      })
    }),
  5 * minutes,
)
