/** The licenses under which parts of others may stand in what is published. */
import satisfies from 'spdx-satisfies'

/** SPDX identifiers; none asks that what is published with it comes under the same license. */
export const acceptedLicenses: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'Apache-2.0 WITH LLVM-exception',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
]

/** Whether parts under an SPDX expression may be published; crates also write `MIT/Apache-2.0` for a choice. */
export const isAccepted = (expression: string): boolean => {
  try {
    return satisfies(expression.replaceAll('/', ' OR '), acceptedLicenses)
  } catch {
    // What is no SPDX expression says nothing of what is allowed.
    return false
  }
}
