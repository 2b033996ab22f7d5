/** What was done with a VM. */
import type { Operation } from '@backlot/contract/vmhost/operation'
import { moment } from './format.ts'
import { ProgressLine } from './progress-line.tsx'
import { service } from './reach.ts'
import { useWorking } from './working.ts'

/** The operations, the latest first. */
export const OperationList = ({ operations }: { readonly operations: readonly Operation[] }) => {
  const working = useWorking()
  if (operations.length === 0) return null
  return (
    <section aria-label="Operations" class="operations">
      <h3>Operations</h3>
      {working.fault !== undefined && <p class="fault">{working.fault}</p>}
      <ul>
        {operations.map((operation) => (
          <li key={operation.id}>
            <span class={`badge ${operation.state}`}>{operation.state}</span> <strong>{operation.kind}</strong>{' '}
            <time dateTime={operation.startedAt}>{moment(operation.startedAt)}</time>
            {operation.state === 'running' && (
              <>
                <ProgressLine operation={operation} />
                <button
                  type="button"
                  onClick={() => working.run('cancelling…', () => service.cancelOperation({ id: operation.id }))}
                >
                  Cancel
                </button>
              </>
            )}
            {operation.cause !== null && <p class="cause">{operation.cause.message}</p>}
            {operation.messages.length > 0 && (
              <details>
                <summary>What the hypervisor said</summary>
                <pre>{operation.messages.join('\n')}</pre>
              </details>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
