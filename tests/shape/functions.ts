/** How long the functions of TypeScript and of Rust are, read off the indentation that the formatter gives. */

/** A function, its parameters included. */
export interface FunctionLength {
  /** Its own, or that of what it is given to; empty where it has none. */
  readonly name: string
  /** The line that it begins on, counted from 1. */
  readonly line: number
  readonly lines: number
}

const indentOf = (line: string): number => line.length - line.trimStart().length

const closes = /^\s*[)\]}]/
const isOpen = /[([{`]$|=>$/
const statement = /^\s*(\} )?(else if|if|for|while|switch|catch)\b/

/** Whether a line leaves a function open: an arrow with what it gives, or a body behind parameters. */
function opensFunction(line: string): boolean {
  const text = line.trim()
  const arrow = text.lastIndexOf('=>')
  // What is open at the end of the line stands behind the arrow: it is no argument after the function, and no type.
  if (arrow >= 0 && isOpen.test(text)) return !/^[^([{]*,| = [[{]$/.test(text.slice(arrow + 2))
  if (!text.endsWith('{') || statement.test(text) || /^(export )?const /.test(text)) return false
  return /\bfunction\b/.test(text) || /^(\w+ )*[#*\w$]*(<.*>)?\(?.*\)(: .+)? \{$/.test(text)
}

/** The last line of what begins on line `start`: it holds all that stands further in, and the lines that close it. */
function endOf(lines: readonly string[], start: number): number {
  const first = lines[start] ?? ''
  const indent = indentOf(first)
  let end = start
  for (let at = start + 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line.trim() === '') continue
    const goesOn = closes.test(line) || (end === start && first.endsWith('=>'))
    if (indentOf(line) < indent || (indentOf(line) === indent && !goesOn)) break
    end = at
    if (indentOf(line) === indent && !isOpen.test(line)) break
  }
  return end
}

/** The line that a signature begins on, whose last line is `at`. */
function beginOf(lines: readonly string[], at: number): number {
  const indent = indentOf(lines[at] ?? '')
  let begin = at
  while (begin > 0 && closes.test(lines[begin] ?? '')) {
    do begin--
    while (begin > 0 && (lines[begin]?.trim() === '' || indentOf(lines[begin] ?? '') > indent))
  }
  return begin
}

/** The lines of a source; those inside a template stand further in than all others. */
function linesOf(source: string): string[] {
  let isTemplate = false
  return source.split('\n').map((line) => {
    const wasTemplate = isTemplate
    if ((line.match(/(?<!\\)`/g)?.length ?? 0) % 2 === 1) isTemplate = !isTemplate
    return wasTemplate ? `${' '.repeat(200)}.` : line
  })
}

const nameIn = (line: string): string =>
  /\b(?:const|let|function\*?) ([\w$]+)/.exec(line)?.[1] ?? /^\s*(?:\w+ )*([#\w$]+)[(:<]/.exec(line)?.[1] ?? ''

/** The functions of a formatted source, those inside others too. */
export function functionsOf(source: string): FunctionLength[] {
  const lines = linesOf(source)
  return lines.flatMap((line, at) => {
    if (!opensFunction(line)) return []
    const begin = beginOf(lines, at)
    const first = lines[begin] ?? ''
    if (statement.test(first)) return []
    const before = lines[begin - 1] ?? ''
    const name = nameIn(before.endsWith(' =') ? before : first)
    return [{ name, line: begin + 1, lines: endOf(lines, at) - begin + 1 }]
  })
}

/** The functions of a formatted source in Rust: each ends with the first `}` or `;` at the end of a line that stands no further in. */
export function rustFunctionsOf(source: string): FunctionLength[] {
  const lines = source.split('\n')
  return lines.flatMap((line, at) => {
    const [, indent, name] = /^( *)(?:pub(?:\(.+?\))? |const |async |unsafe |extern "C" )*fn (\w+)/.exec(line) ?? []
    if (indent === undefined || name === undefined) return []
    const isEnd = (each: string): boolean => indentOf(each) <= indent.length && /[};]$/.test(each)
    const length = lines.slice(at).findIndex(isEnd) + 1
    return [{ name, line: at + 1, lines: length }]
  })
}
