/** The text that goes with parts of others: what they are, and their licenses. */
import { isAccepted } from './accepted.ts'
import type { Component } from './part.ts'
import { statedLicenses, statedTexts } from './stated.ts'

/** The file in a package. */
export const noticesFile = 'THIRD-PARTY-NOTICES'

/**
 * The text for some parts. Throws, with all of their names, where parts have a license that is neither accepted nor
 * stated, or none of their texts is there.
 */
export const noticesFor = (parts: readonly Component[]): string => {
  const wrong = parts.flatMap(wrongWith)
  if (wrong.length > 0) {
    throw new Error(`What is published may not hold:\n${wrong.join('\n')}\nSee ts/pack/notices.`)
  }
  const sorted = parts.toSorted((a, b) => compare(a.name, b.name) || compare(a.version, b.version))
  // Many parts share one text, which is printed once.
  const owners = new Map<string, string[]>()
  for (const part of sorted) {
    for (const text of textsOf(part)) owners.set(text, [...(owners.get(text) ?? []), `${part.name} ${part.version}`])
  }
  const line = '-'.repeat(80)
  const list = sorted.map(({ name, version, license, source }) =>
    [`${name} ${version}`, license, source, statedLicenses[name]?.reason]
      .filter((each) => each !== undefined && each !== '')
      .join('\n  '),
  )
  const licenses = [...owners].map(([text, names]) => `${line}\n${names.join(', ')}\n\n${text}`)
  return `This package holds parts of others. Their names, licenses and sources:\n\n${list.join('\n')}\n\n${licenses.join('\n\n')}\n`
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const textsOf = ({ name, texts }: Component): string[] => {
  const stated = statedTexts[name]
  const all = texts.length === 0 && stated !== undefined ? [stated] : texts
  return [...new Set(all.map((text) => text.replaceAll('\r\n', '\n').trim()))]
}

const wrongWith = (part: Component): string[] => {
  const { name, version, license } = part
  const isLicensed = isAccepted(license) || statedLicenses[name]?.license === license
  return [
    ...(isLicensed ? [] : [`"${name}" ${version}: the license "${license}" is not accepted`]),
    ...(textsOf(part).join('') === '' ? [`"${name}" ${version}: no text of its license is there`] : []),
  ]
}
