/** The sandboxes of the machine, beside its VMs: whoever starts the service says how they are reached. */
import { Failure } from '@backlot/contract/failure'
import { longestHostBodyBytes } from '@backlot/contract/limits'
import { type HostSandbox, sandboxOperations, sandboxScreenPath } from '@backlot/contract/vmhost/sandboxes'
import { addOperations, routeOf, type UpgradeWebSocket } from '@backlot/serve'
import type { AnyElysia } from 'elysia'
import { type RelayedScreen, relayScreen } from './relay.ts'

/** What the service asks of the sandboxes; each throws a `Failure` that names the sandbox. */
export interface HostSandboxes {
  list(): Promise<readonly HostSandbox[]>
  suspend(name: string): Promise<void>
  resume(name: string): Promise<void>
  delete(name: string): Promise<void>
  /** Where the server of one that runs gives its screen, and what opens it; throws `no_screen` where there is none. */
  screen(name: string): Promise<RelayedScreen>
}

/** Adds what is asked of them, and their screens, under the prefix. */
export const addSandboxes = (
  app: AnyElysia,
  prefix: string,
  sandboxes: HostSandboxes,
  join: UpgradeWebSocket,
): AnyElysia => {
  const named = (act: (name: string) => Promise<void>) => async (name: string) => {
    await act(name)
    return {}
  }
  let listed: Promise<readonly HostSandbox[]> | undefined
  const answers: Readonly<Record<keyof typeof sandboxOperations, (name: string) => Promise<unknown>>> = {
    // Several pages that look at once cause one look.
    listSandboxes: () => {
      listed ??= sandboxes.list().finally(() => {
        listed = undefined
      })
      return listed
    },
    suspendSandbox: named((name) => sandboxes.suspend(name)),
    resumeSandbox: named((name) => sandboxes.resume(name)),
    deleteSandbox: named((name) => sandboxes.delete(name)),
  }
  addOperations(app, {
    declared: sandboxOperations,
    prefix,
    longestBodyBytes: longestHostBodyBytes,
    answer: (name, input) => answers[name as keyof typeof sandboxOperations](String(input.name)),
  })
  return app.get(prefix + routeOf(sandboxScreenPath), async ({ request, params }) => {
    const name = String((params as Record<string, string>).name)
    if (relayScreen(join, request, await sandboxes.screen(name))) return new Response()
    throw new Failure(
      'not_a_socket',
      `The screen of "${name}" is given to a WebSocket; connect with one, or see it in the console.`,
    )
  })
}
