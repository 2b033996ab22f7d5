/** Texts that a language takes for something else, unless they are quoted as it asks. */
export const hostileTexts: Readonly<Record<string, string>> = {
  QUOTES: `'a' "b" \`id\` ''"" it's`,
  DOLLARS: `$HOME \${HOME} $(touch /etc/pwned) $$ $1 !!`,
  LINES: '\n one\n\n  two\r\nthree\t\n\n',
  BACKSLASHES: '\\ \\n \\\\ \\" \\x41 \\',
  UNICODE: 'Grüße 世界 😀 “a” ‘b’ \u2028 \u0085 \ufeff',
  PERCENT: '100% %s %% %n %H %d',
  BRACES: '{{ v1.instance_id }} {% raw %} {a: b} [c]',
  YAML: '? a: b # c\n- d\n--- &e *f !!g |- >',
  HASH: '# a # b',
  SPACES: '   a   ',
  EMPTY: '',
  GLOBS: '*  ?  [a-z]* ~ ; & | < > ( )',
  HEREDOC: "END\nEND\nBACKLOT\n@'\n'@",
  CONTROL: '\u0001\u0007\u001b[31m\u007f',
}
