/** How far an operation is. */
import type { Operation } from '@backlot/contract/vmhost/operation'
import { bytes } from './format.ts'

/** A bar with words; without a known total the bar only moves. */
export const ProgressLine = ({ operation }: { readonly operation: Operation }) => {
  const { progress, step, kind } = operation
  const words = step ?? kind
  const label = progress === null ? words : `${words}: ${amount(progress)}`
  return (
    <span class="progress">
      <progress aria-label={words} {...(progress?.totalBytes ? share(progress) : {})} />
      <small>{label}</small>
    </span>
  )
}

type Progress = NonNullable<Operation['progress']>

const share = ({ doneBytes, totalBytes }: Progress) => ({ value: doneBytes, max: totalBytes ?? 1 })

const amount = ({ doneBytes, totalBytes, bytesPerSecond }: Progress): string => {
  const of = totalBytes === null ? '' : ` of ${bytes(totalBytes)}`
  return `${bytes(doneBytes)}${of}, ${bytes(bytesPerSecond)}/s`
}
