/** The service that the page came from. */
import { httpClient } from '@backlot/contract/client'
import { vmHostPrefixes } from '@backlot/contract/limits'
import { vmHost } from '@backlot/contract/vmhost'
import { eventsPath } from '@backlot/contract/vmhost/operation'
import { sandboxOperations, sandboxScreenPath } from '@backlot/contract/vmhost/sandboxes'

const baseUrl = `${location.origin}${vmHostPrefixes[0]}`

/** Its operations. */
export const service = httpClient(vmHost, { baseUrl, fetch: (url, init) => fetch(url, init) })

/** What it does with sandboxes. */
export const sandboxService = httpClient(sandboxOperations, { baseUrl, fetch: (url, init) => fetch(url, init) })

/** Address of its events. */
export const eventsUrl = `${baseUrl}${eventsPath}`

/** Address of a VM's screen. */
export const screenUrl = (name: string, storage: string): string =>
  `${baseUrl.replace(/^http/, 'ws')}/vms/${encodeURIComponent(name)}/vnc?storage=${encodeURIComponent(storage)}`

/** Address of a sandbox's screen. */
export const sandboxScreenUrl = (name: string): string =>
  `${baseUrl.replace(/^http/, 'ws')}${sandboxScreenPath.replace('{name}', encodeURIComponent(name))}`
