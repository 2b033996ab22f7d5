/** Secrets that were told, and looking for what is left of them in texts. */

/** Length of a run of a secret that must not be found. */
const run = 8

const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** A text as it reads once the escapes of JSON are decoded. */
const decoded = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code: string | undefined, letter: string) =>
    code === undefined ? (letters[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  )

/** Runs of eight characters of secrets that stand in a text, in clear or once or twice decoded from JSON. */
export const runsLeft = (secrets: readonly string[], ...texts: readonly string[]): readonly string[] => {
  const runs = new Set<string>()
  for (const secret of secrets)
    for (let at = 0; at + run <= secret.length; at += 1) runs.add(secret.slice(at, at + run))
  const found = new Set<string>()
  for (const text of texts) {
    const once = decoded(text)
    for (const view of new Set([text, once, decoded(once)])) {
      for (let at = 0; at + run <= view.length; at += 1) {
        const piece = view.slice(at, at + run)
        if (runs.has(piece)) found.add(piece)
      }
    }
  }
  return [...found]
}
