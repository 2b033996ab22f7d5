/** The pool of a VM: how many forks of it are kept ready, and how many there are now. */
import type { Result } from '@backlot/contract/endpoint'
import type { vmHost } from '@backlot/contract/vmhost'
import { mostReady } from '@backlot/contract/vmhost/fork'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { useEffect, useState } from 'preact/hooks'
import { Field } from '../fields.tsx'
import { service } from '../reach.ts'
import { useWorking } from '../working.ts'

type State = Result<(typeof vmHost)['poolVm']>

/** Milliseconds between two looks at a pool that there is: nothing tells of forks that come and go. */
const pollIntervalMs = 2_000

const words = ({ size, ready, isMemoryShort }: State, isSuspended: boolean): string => {
  if (size === 0) return 'No forks of it are kept ready.'
  const now = `${ready} of ${size} forks are ready`
  if (!isSuspended) return `${now}: there are none while it is not suspended.`
  return isMemoryShort ? `${now}: memory of this machine is short.` : `${now}.`
}

export const Pool = ({ vm }: { readonly vm: Vm }) => {
  const [state, set] = useState<State>()
  const working = useWorking()
  const at = { name: vm.name, storage: vm.locationName }
  const isSuspended = vm.status === 'suspended'
  const isKept = (state?.size ?? 0) > 0
  useEffect(() => {
    let isShown = true
    const look = () =>
      service.poolVm(at).then(
        (found) => isShown && set(found),
        () => undefined,
      )
    void look()
    const timer = isKept ? setInterval(look, pollIntervalMs) : undefined
    return () => {
      isShown = false
      clearInterval(timer)
    }
  }, [vm.name, vm.locationName, vm.status, isKept])
  const keep = (event: SubmitEvent) => {
    event.preventDefault()
    const size = Number(new FormData(event.currentTarget as HTMLFormElement).get('size'))
    void working.run('keeping…', () => service.poolVm({ ...at, size }).then(set))
  }
  if (state === undefined || (!isSuspended && !isKept)) return null
  return (
    <section class="pool">
      <h3>Pool</h3>
      {working.fault !== undefined && <p class="fault">{working.fault}</p>}
      <p data-ready={state.ready}>{words(state, isSuspended)}</p>
      <form onSubmit={keep}>
        <Field
          label="Forks to keep ready"
          name="size"
          type="number"
          min="0"
          max={isSuspended ? mostReady : 0}
          required
          defaultValue={`${state.size}`}
        />
        <button type="submit" disabled={working.what !== undefined}>
          Keep ready
        </button>
      </form>
    </section>
  )
}
