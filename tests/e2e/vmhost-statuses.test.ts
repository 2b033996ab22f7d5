import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Endpoint } from '@backlot/contract/endpoint'
import { vmHostPrefixes } from '@backlot/contract/limits'
import { vmHost } from '@backlot/contract/vmhost'
import { proving } from '../support/proves.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, small } from '../support/vms.ts'

/** A host whose settings cannot be read, and one that is well. */
let damaged: VmHost
let well: VmHost

beforeAll(async () => {
  ;[damaged, well] = await Promise.all([startVmHost(), startVmHost()])
  // A list of restore images that nobody gives.
  await call(well, 'POST', '/svc/config', { ipswCatalog: 'http://127.0.0.1:1/' })
  await mkdir(join(damaged.home, 'config'), { recursive: true })
  await writeFile(join(damaged.home, 'config/vmhost.json'), '{')
})

afterAll(async () => {
  await Promise.all([damaged, well].map((host) => host[Symbol.asyncDispose]()))
})

type Name = keyof typeof vmHost

/** The operations that the specification has. */
const specified = (Object.entries(vmHost) as [Name, Endpoint][]).filter(([, { ours }]) => !ours)

/** What each is called with that cannot be done: what stands for the name in its path, its query, its body. */
const wrong: Partial<Record<Name, { name?: string; query?: string; body?: unknown }>> = {
  listVms: { query: '?storage=nothing' },
  getVm: { name: 'none' },
  createVm: { body: { ...small, name: '../up' } },
  deleteVm: { name: 'none' },
  cloneVm: { body: { name: 'none', newName: 'other' } },
  updateVm: { name: 'none', body: { cpu: 0 } },
  runVm: { name: 'none' },
  stopVm: { name: 'none' },
  setConfig: { body: { homeDirectory: 'relative' } },
  addLocation: { body: { name: 'other', path: 'relative' } },
  removeLocation: { name: 'nothing' },
  setDefaultLocation: { name: 'nothing' },
  getLogs: { query: '?type=some' },
  listImages: { query: `?organization=${'a'.repeat(300)}` },
  getIpsw: {},
  pullImage: { body: { image: 'No Image' } },
  pushVm: { body: { name: 'none', imageName: 'image', tags: ['one'] } },
}
/** Those that nothing but damage of the settings makes fail. */
const infallible: readonly Name[] = ['getConfig', 'listLocations', 'pruneImages']
/** Those that do not need the settings. */
const heedless: readonly Name[] = ['getLogs']

/** Every address of an operation. */
const addresses = ({ method, path, alias }: Endpoint, { name = 'any', query = '' }): [string, string][] =>
  vmHostPrefixes.flatMap((prefix) =>
    [{ method, path }, ...(alias === undefined ? [] : [alias])].map((way): [string, string] => [
      way.method,
      `${prefix}${way.path.replace(/\{\w+\}/, name)}${query}`,
    ]),
  )

/** The statuses of an operation at all its addresses, and whether each failure has a code and a text. */
const answers = async (host: VmHost, declared: Endpoint, input: { name?: string; query?: string; body?: unknown }) => {
  const seen = new Set<unknown>()
  for (const [method, path] of addresses(declared, input)) {
    const [status, body] = await call(host, method, path, method === 'GET' ? undefined : (input.body ?? {}))
    seen.add(status)
    if (status !== declared.success.status) seen.add(`${typeof body.code} ${typeof body.message}`)
  }
  return [...seen]
}

const refused = [400, 'string string']

test(
  'every specified operation refuses what cannot be done with 400',
  proving(['vmhost.errors.always-400'], async () => {
    expect([...Object.keys(wrong), ...infallible].sort()).toEqual(specified.map(([name]) => name).sort())
    for (const [name, declared] of specified) {
      if (infallible.includes(name)) continue
      expect([name, await answers(well, declared, wrong[name] ?? {})]).toEqual([name, refused])
    }
  }),
)

test(
  'and with no other status where its settings are damaged',
  proving(['vmhost.errors.no-other-status'], async () => {
    for (const [name, declared] of specified) {
      const { body, ...rest } = wrong[name] ?? {}
      const input = heedless.includes(name) ? {} : { ...rest, body: name === 'createVm' ? { ...small, name } : body }
      const expected = heedless.includes(name) ? [declared.success.status] : refused
      expect([name, await answers(damaged, declared, input)]).toEqual([name, expected])
    }
  }),
)
