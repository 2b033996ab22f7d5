/** Tells what happens on the host. */
import { eventStream } from '@backlot/serve'
import type { Host } from '../host/host.ts'

/** The stream of events; begins after the one that `Last-Event-ID` names. */
export const hostEvents = (request: Request, { events }: Pick<Host, 'events'>): Response =>
  eventStream(request, (last, { send }) =>
    events.follow(last, ({ id, event }) => send({ id, type: event.type, data: event })),
  )
