/** Quoting of texts for POSIX shells and PowerShell, one function for each. */
import { toBase64 } from '../base64.ts'

/**
 * A text as an expression of PowerShell. What is not plain ASCII travels in base64: Windows PowerShell reads scripts in the
 * code page of the machine, takes typographic quotes for quotes, and changes the ends of lines.
 */
export const powershellText = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text)
    ? `'${text.replaceAll("'", "''")}'`
    : `([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('${toBase64(new TextEncoder().encode(text))}')))`

/** A text as a value of YAML, its lines at `depth`: as it stands where all of it can be seen, else in quotes. */
export const yamlText = (text: string, depth: number): string => {
  if (!/^[^ \n]/.test(text) || text.endsWith('\n') || /[^ \n\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(text))
    return yamlQuoted(text)
  const margin = ' '.repeat(depth)
  return `|-\n${text.replace(/^(?=.)/gm, margin)}`
}

/** Every character but printable ASCII is escaped: no reader then takes one for the end of a line, or refuses it. */
const yamlQuoted = (text: string): string => {
  const letters = Array.from(text, (letter) => {
    if (letter === '"' || letter === '\\') return `\\${letter}`
    if (letter >= ' ' && letter <= '~') return letter
    const code = letter.codePointAt(0) ?? 0
    if (letter === '\n') return '\\n'
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`
  })
  return `"${letters.join('')}"`
}

/** A variable as a word of `DefaultEnvironment=` (systemd-system.conf(5)), where `%` begins a specifier. */
export const systemdText = (text: string): string => {
  const letters = Array.from(text, (letter) => {
    if (letter === '"' || letter === '\\') return `\\${letter}`
    if (letter === '%') return '%%'
    return letter < ' ' ? `\\x${hex(letter.charCodeAt(0), 2)}` : letter
  })
  return `"${letters.join('')}"`
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')
