import { expect, test } from 'bun:test'
import type { VmSettings } from '../vms/vm-settings.ts'
import { settingsAgain } from './snapshot-store.ts'

test('a fork that is again what it was before it went on is given an identity again', () => {
  const settings = { cpu: 1, macAddress: '52:54:00:00:00:02', generationId: 'one' } as VmSettings
  const fork: VmSettings = { ...settings, identity: 'shared', guestMacAddress: '52:54:00:00:00:01' }
  const gone: VmSettings = { ...settings, cpu: 2, identity: 'own' }
  const again = { generationId: expect.not.stringMatching(/^one$/) }
  expect(settingsAgain(gone, fork, true)).toEqual({ ...fork, ...again })
  expect(settingsAgain(fork, gone, true)).toEqual({ ...gone, ...again })
  // It boots, with the card that it has now, from a disk that has its parent's keys.
  expect(settingsAgain(gone, fork, false)).toEqual({ ...settings, identity: 'shared', ...again })
  expect(settingsAgain({ ...settings, cpu: 2 }, settings, false)).toEqual({ ...settings, ...again })
})
