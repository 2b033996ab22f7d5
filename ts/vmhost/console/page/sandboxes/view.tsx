/** One sandbox: what one does with it, its live screen, and its facts. */
import type { HostSandbox } from '@backlot/contract/vmhost/sandboxes'
import type { ScreenProps } from '@backlot/serve/page/screen'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../dialog.tsx'
import { moment } from '../format.ts'
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
      {working.fault !== undefined && (
        <p class="fault" role="alert">
          {working.fault}
        </p>
      )}
      <ScreenPart sandbox={sandbox} />
      <dl>
        {facts(sandbox).map(
          ([word, text]) =>
            text !== null && (
              <div key={word}>
                <dt>{word}</dt>
                <dd>{text}</dd>
              </div>
            ),
        )}
      </dl>
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

/** The screen while it runs, to look at; what shows it is loaded then. */
const ScreenPart = ({ sandbox: { name, status } }: Pick<SandboxProps, 'sandbox'>) => {
  const [part, setPart] = useState<{ readonly Screen: ComponentType<ScreenProps> }>()
  const isOn = status === 'running'
  useEffect(() => {
    if (isOn) void import('@backlot/serve/page/screen').then(({ default: Screen }) => setPart({ Screen }))
  }, [isOn])
  if (!isOn) return <p class="screen off">The screen appears here while the sandbox runs.</p>
  if (part === undefined) return <p class="screen off">Joining the screen…</p>
  return (
    <>
      <part.Screen url={sandboxScreenUrl(name)} password="" refused="The sandbox refused its screen." viewOnly />
      <p class="note">
        To look at; <code>backlot sandbox view {name}</code> opens it to take over.
      </p>
    </>
  )
}

/** What is known, row by row; what is unknown is left out. */
const facts = (sandbox: HostSandbox): readonly (readonly [string, string | null])[] => [
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
  const working = useWorking()
  const act = async () => {
    const { name } = sandbox
    const work = () => sandboxService.deleteSandbox({ name }).finally(() => state.read())
    if (!(await working.run('Deleting…', work))) return
    close()
    location.hash = '#/'
  }
  return (
    <Dialog title={`Delete ${sandbox.name}?`} verb="Delete" dangerous working={working} act={act} close={close}>
      <p>Its files go with it, and what runs in it ends. This cannot be undone.</p>
    </Dialog>
  )
}
