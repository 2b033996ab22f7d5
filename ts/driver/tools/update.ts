/** Whether a newer version of Backlot is published. */
import { environment, updates } from '@backlot/contract/limits'
import { placesOf } from '@backlot/contract/places'
import { version as current } from '@backlot/contract/version'
import { Type } from '@sinclair/typebox'
import { reads, tool } from '../tool/tool.ts'
import { type Latest, latestVersion } from '../update/latest.ts'

export const checkForUpdate = tool({
  name: 'check_for_update',
  title: 'Check for an update',
  description: 'Whether a newer version of this driver is published, and the command that installs it; never installs.',
  arguments: Type.Object({}),
  attributes: { ...reads(), openWorld: true },
  async run(call) {
    const registry = process.env[environment.updateRegistry] ?? updates.registry
    const { check_for_update } = await call.config()
    const off = !check_for_update ? 'configuration key check_for_update' : registry === '' && environment.updateRegistry
    const latest: Latest = off
      ? { problem: `looking is switched off by ${off}` }
      : await latestVersion(registry, `${placesOf(process.env).cache}/update.json`, call.signal)
    const known = 'version' in latest ? latest.version : null
    const update_available = known !== null && Bun.semver.order(known, current) > 0
    const notes = `${updates.notes}${known ?? current}`
    return {
      text: summary(latest, update_available, notes),
      structured: {
        current_version: current,
        latest_version: known,
        update_available,
        install_command: updates.install,
        release_notes_url: notes,
        problem: 'problem' in latest ? latest.problem : null,
      },
    }
  },
})

const summary = (latest: Latest, isNewer: boolean, notes: string): string => {
  if ('problem' in latest) return `The latest version is not known: ${latest.problem}. This is ${current}.`
  if (!isNewer) return `✅ ${current} is current; the registry has ${latest.version}.`
  return `Version ${latest.version} is published, this is ${current}. Install it with: ${updates.install}. Notes: ${notes}`
}
