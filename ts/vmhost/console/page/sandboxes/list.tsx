/** The sandboxes of the machine, one row each. */
import { sandboxAnchor } from '@backlot/contract/vmhost/sandboxes'
import type { SandboxState } from './state.ts'

/** The list; the one whose anchor is `shown` is marked. */
export const SandboxList = ({ state, shown }: { readonly state: SandboxState; readonly shown: string }) => (
  <section aria-label="Sandboxes">
    <h2>Sandboxes</h2>
    <ul>
      {state.sandboxes.map(({ name, status, runtime, isolation, expiresAt }) => (
        <li key={name}>
          <a href={`#${sandboxAnchor(name)}`} aria-current={sandboxAnchor(name) === shown ? 'page' : undefined}>
            <span class={`dot ${status}`} aria-hidden="true" />
            <strong>{name}</strong>
            <span class="status">{status}</span>
            <small>
              {runtime}
              {isolation !== null && isolation !== runtime && `, ${isolation}`}
              {expiresAt !== null && `, ${timeLeft(expiresAt)}`}
            </small>
          </a>
        </li>
      ))}
    </ul>
    {state.fault !== undefined && <p class="empty">They cannot be read: {state.fault}</p>}
    {state.fault === undefined && state.sandboxes.length === 0 && (
      <p class="empty">{state.isRead ? 'No sandboxes' : 'Reading the sandboxes…'}</p>
    )}
  </section>
)

/** What is left until a moment, rounded up: `ends in 5 min`. */
export const timeLeft = (iso: string): string => {
  const seconds = Math.ceil((Date.parse(iso) - Date.now()) / 1_000)
  if (seconds <= 0) return 'ends now'
  if (seconds < 60) return `ends in ${seconds} s`
  if (seconds < 5_400) return `ends in ${Math.ceil(seconds / 60)} min`
  return seconds < 172_800 ? `ends in ${Math.ceil(seconds / 3_600)} h` : `ends in ${Math.ceil(seconds / 86_400)} days`
}
