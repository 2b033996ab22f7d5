/** One sandbox: what one does with it, its live screen, and its facts. */
import type { HostSandbox } from '@backlot/contract/vmhost/sandboxes'
import { useState } from 'preact/hooks'
import { Dialog } from '../dialog.tsx'
import { type Fact, Facts, Fault } from '../facts.tsx'
import { moment } from '../format.ts'
import { LiveScreen } from '../live-screen.tsx'
import { sandboxScreenUrl, sandboxService } from '../reach.ts'
import { useWorking } from '../working.ts'
import { timeLeft } from './list.tsx'
import type { SandboxState } from './state.ts'

interface SandboxProps {
  readonly sandbox: HostSandbox
  readonly state: SandboxState
}

/** The sandbox; after all that is done with it the list is read afresh. */
export const SandboxView = ({ sandbox, state }: SandboxProps) => {
  const { name, status, warnings } = sandbox
  const working = useWorking()
  const [isDeleting, setDeleting] = useState(false)
  const act = (what: string, work: () => Promise<unknown>) =>
    working.run(what, () => work().finally(() => state.read()))
  const isBusy = working.what !== undefined
  return (
    <article>
      <div class="title">
        <h2>{name}</h2>
        <span class={`badge ${status}`} role="status">
          {working.what ?? status}
        </span>
        <div class="buttons">
          <button
            type="button"
            disabled={status !== 'running' || isBusy}
            onClick={() => act('suspending…', () => sandboxService.suspendSandbox({ name }))}
          >
            Suspend
          </button>
          <button
            type="button"
            class="primary"
            disabled={status !== 'suspended' || isBusy}
            onClick={() => act('resuming…', () => sandboxService.resumeSandbox({ name }))}
          >
            Resume
          </button>
          <button type="button" disabled={status === 'provisioning' || isBusy} onClick={() => setDeleting(true)}>
            Delete…
          </button>
        </div>
      </div>
      {working.fault !== undefined && <Fault>{working.fault}</Fault>}
      <ScreenPart sandbox={sandbox} />
      <Facts facts={facts(sandbox)} />
      {warnings.length > 0 && (
        <ul class="warnings" aria-label="What differs from what was asked">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {isDeleting && <DeleteDialog sandbox={sandbox} state={state} close={() => setDeleting(false)} />}
    </article>
  )
}

/** The screen while it runs, to look at. */
const ScreenPart = ({ sandbox: { name, status } }: Pick<SandboxProps, 'sandbox'>) => {
  if (status !== 'running') return <LiveScreen screen="The screen appears here while the sandbox runs." />
  const refused = 'The sandbox refused its screen.'
  return (
    <>
      <LiveScreen screen={{ url: sandboxScreenUrl(name), password: '', refused, viewOnly: true }} />
      <p class="note">
        To look at; <code>backlot sandbox view {name}</code> opens it to take over.
      </p>
    </>
  )
}

/** What is known, row by row; what is unknown is left out. */
const facts = (sandbox: HostSandbox): readonly Fact[] => [
  ['Runtime', sandbox.runtime],
  ['Isolation', sandbox.isolation],
  ['System', sandbox.osType],
  ['Made', sandbox.createdAt && moment(sandbox.createdAt)],
  [
    'Time to live',
    sandbox.expiresAt ? `${timeLeft(sandbox.expiresAt)}, ${moment(sandbox.expiresAt)}` : 'until it is deleted',
  ],
  ['Ends with', sandbox.ephemeral ? 'the program that made it' : null],
]

const DeleteDialog = (props: SandboxProps & { readonly close: () => void }) => {
  const { sandbox, state, close } = props
  const act = async () => {
    await sandboxService.deleteSandbox({ name: sandbox.name }).finally(() => state.read())
    location.hash = '#/'
  }
  return (
    <Dialog title={`Delete ${sandbox.name}?`} verb="Delete" doing="Deleting…" dangerous act={act} close={close}>
      <p>Its files go with it, and what runs in it ends. This cannot be undone.</p>
    </Dialog>
  )
}
