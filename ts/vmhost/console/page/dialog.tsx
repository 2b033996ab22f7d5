/** A question to the person, over the page. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Fault } from './facts.tsx'
import { useWorking } from './working.ts'

interface DialogProps {
  readonly title: string
  /** The word on the button that does it. */
  readonly verb: string
  readonly dangerous?: boolean
  /** The word in its place meanwhile. */
  readonly doing: string
  /** Does it; the dialog closes when that is done, and says what went wrong otherwise. */
  readonly act: (form: FormData) => Promise<unknown>
  readonly close: () => void
  readonly children: ComponentChildren
}

/** The dialog; Escape and `Cancel` close it, Enter does what it asks. */
export const Dialog = ({ title, verb, doing, dangerous, act, close, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const working = useWorking()
  useEffect(() => {
    const { current } = dialog
    current?.showModal()
    // The browser gives the focus back to where it was only when the dialog is closed, not when it is removed.
    return () => current?.close()
  }, [])
  // What the browser says of a dialog that was removed comes late, when the next one may be open already.
  const closed = (event: Event) => (event.currentTarget as HTMLDialogElement).isConnected && close()
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.target as HTMLFormElement)
    if (await working.run(doing, () => act(form))) close()
  }
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onCancel={close} onClose={closed}>
      <form onSubmit={submit}>
        <h2 id="dialog-title">{title}</h2>
        {children}
        {working.fault !== undefined && <Fault>{working.fault}</Fault>}
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class={dangerous ? 'danger' : 'primary'} disabled={working.what !== undefined}>
            {working.what ?? verb}
          </button>
        </div>
      </form>
    </dialog>
  )
}
