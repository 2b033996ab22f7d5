/** Operations of the VM host on its web console. */
import { Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'

export const consoleOperations = {
  makeConsoleLink: endpoint({
    method: 'POST',
    path: '/console/link',
    summary: 'Make a link to the console.',
    description:
      'The link lets one browser in without the token: it works once and for ten minutes, and leaves a cookie that ' +
      'is good for a week. Where no token is asked for it is the plain address. A service on a Unix socket has no ' +
      'console that a browser can reach.',
    ours: true,
    success: {
      status: 200,
      description: 'The link.',
      result: Type.Object({ url: Type.String({ description: 'What to open in a browser.' }) }),
    },
    refusal: 'The service listens on a Unix socket',
    command: { group: 'host', words: ['link'], positional: [] },
  }),
} as const

/** Path of a VM's screen, below the prefix: a WebSocket that carries VNC. */
export const screenPath = '/vms/{name}/vnc'

/** What stands behind `#` in the address of the page that shows a VM: `home/web`. */
export const vmAnchor = ({ name, locationName }: { readonly name: string; readonly locationName: string }): string =>
  encodeURIComponent(`${locationName}/${name}`).replaceAll('%2F', '/')
