/** Texts as they read without their escapes: of JSON and of trees, of HTML, of URLs. */

/** One reading of a text. */
export interface View {
  readonly text: string
  /** Where in the text that was given the character at a position of this one begins, escapes included. */
  from(position: number): number
  /** Where it ends. */
  to(position: number): number
}

/** How often escapes are taken away: JSON stands in texts of JSON. */
const mostLayers = 3

interface Escapes {
  readonly pattern: RegExp
  meaning(code: string): string
}

const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' }
const entities: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'", nbsp: ' ' }

const kinds: readonly Escapes[] = [
  {
    pattern: /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/gs,
    meaning: (code) =>
      code.length > 2
        ? String.fromCharCode(Number.parseInt(code.slice(2), 16))
        : (letters[code[1] ?? ''] ?? code.slice(1)),
  },
  {
    pattern: /&(?:quot|amp|lt|gt|apos|nbsp|#\d{1,7}|#x[0-9a-fA-F]{1,6});/g,
    meaning(code) {
      const name = code.slice(1, -1)
      if (!name.startsWith('#')) return entities[name] ?? code
      const point = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
      return point <= 0x10ffff ? String.fromCodePoint(point) : code
    },
  },
  {
    pattern: /(?:%[0-9a-fA-F]{2})+/g,
    meaning: (code) => Buffer.from(code.replaceAll('%', ''), 'hex').toString('utf8'),
  },
]

/** The text itself, and each way to read it that differs from it. */
export const viewsOf = (text: string): readonly View[] => {
  let layer: readonly View[] = [{ text, from: (position) => position, to: (position) => position + 1 }]
  const views = [...layer]
  const known = new Set([text])
  for (let depth = 0; depth < mostLayers && layer.length > 0; depth += 1) {
    layer = layer
      .flatMap((view) => kinds.flatMap((kind) => unescaped(view, kind) ?? []))
      .filter((view) => !known.has(view.text) && known.add(view.text))
    views.push(...layer)
  }
  return views
}

const unescaped = (view: View, { pattern, meaning }: Escapes): View | undefined => {
  const escapes = [...view.text.matchAll(pattern)]
  if (escapes.length === 0) return undefined
  const pieces: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  let done = 0
  const copy = (to: number) => {
    pieces.push(view.text.slice(done, to))
    for (; done < to; done += 1) {
      starts.push(done)
      ends.push(done)
    }
  }
  for (const { 0: code, index } of escapes) {
    copy(index)
    const piece = meaning(code)
    done = index + code.length
    pieces.push(piece)
    for (let at = 0; at < piece.length; at += 1) {
      starts.push(index)
      ends.push(done - 1)
    }
  }
  copy(view.text.length)
  return {
    text: pieces.join(''),
    from: (position) => view.from(starts[position] ?? 0),
    to: (position) => view.to(ends[position] ?? 0),
  }
}
