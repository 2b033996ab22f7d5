/** The OpenAPI document of the service: its declared operations, its events, the screens, and what guests stream. */
import type { HttpOperations } from '@backlot/contract/endpoint'
import { screenPath } from '@backlot/contract/vmhost/console'
import { eventsPath, HostEvent } from '@backlot/contract/vmhost/operation'
import { refusals, openApi as write } from '@backlot/serve'
import { guestDocuments } from './guest-documents.ts'

/** The document, with every operation under `prefix`. */
export const openApi = (declared: HttpOperations, prefix: string, version: string): Record<string, unknown> =>
  write(declared, prefix, {
    title: 'Backlot VM host',
    version,
    description:
      'Virtual machines on this host. Every operation answers under `/svc` and, for existing clients, under `/lume`.',
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer', description: 'Asked for where the service was given a token.' },
    },
    others: [
      { method: 'get', path: prefix + eventsPath, operation: events },
      { method: 'get', path: prefix + screenPath, operation: screen },
      ...guestDocuments.map((each) => ({ ...each, path: prefix + each.path })),
    ],
  })

const events = {
  operationId: 'followEvents',
  summary: 'Follow what happens.',
  description:
    'Server-sent events, each with an id: who comes back with `Last-Event-ID` is told what happened meanwhile, or ' +
    '`reset` where that is not known any more.',
  parameters: [{ name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } }],
  responses: {
    200: {
      description: 'The events; `data` is one of these as JSON, `event` its `type`.',
      content: { 'text/event-stream': { schema: HostEvent } },
    },
    ...refusals([]),
  },
}

const screen = {
  operationId: 'joinScreen',
  summary: "Join a VM's screen.",
  description: 'A WebSocket that carries VNC (RFB, RFC 6143) in binary messages; the password is that of `vncUrl`.',
  parameters: [
    { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'storage', in: 'query', required: false, schema: { type: 'string' } },
  ],
  responses: {
    101: { description: 'The screen is joined.' },
    ...refusals(['vm_not_found', 'no_screen', 'not_a_socket', 'invalid_argument']),
  },
}
