/** `--help` of every command of `backlot vm` and `backlot host`, and of `backlot image` and `backlot sandbox`. */
import { expect, test } from 'bun:test'
import { vmHost } from '@backlot/contract/vmhost'
import { runBacklot } from '../support/backlot.ts'

const commands = [
  ...Object.values(vmHost).map(({ command }) => [command.group, ...command.words]),
  ['vm', 'console'],
  ['vm', 'cp'],
  ['vm', 'shell'],
  ['vm', 'logs'],
]

/** The options that a form names in brackets, and what is told of each below it. */
const optionsOf = (help: string): [option: string, told: string][] => {
  const form = help.split('\n\n')[1] ?? ''
  return [...form.matchAll(/\[(?:(-\w)|(--[a-z-]+)((?: [^[\]]+(?:\[[^\]]*\])?)?))\]/g)].map(
    ([, short, name = '', value = '']) => {
      const option = short ?? `${name}${value}`
      const lines = help.split('\n')
      const at = lines.findIndex((line) => line === `  ${option}` || line.startsWith(`  ${option}, `))
      const end = lines.findIndex((line, index) => index > at && !line.startsWith('      '))
      return [
        option,
        at < 0
          ? ''
          : lines
              .slice(at + 1, end)
              .join(' ')
              .replace(/\s+/g, ' ')
              .trim(),
      ]
    },
  )
}

test.each(commands)('backlot %s %s explains each option, and what holds without it', async (...words) => {
  const { status, stdout } = await runBacklot([...words.filter((word) => word !== undefined), '--help'])
  expect([status, stdout]).toEqual([0, expect.stringContaining(`backlot ${words[0]} ${words[1]}`)])
  for (const [option, told] of optionsOf(stdout)) {
    expect([option, told]).toEqual([option, expect.stringMatching(/^[A-Z`].*\.$/)])
    // A flag that stands alone is not there without it.
    if (option.includes(' ')) expect([option, told]).toEqual([option, expect.stringMatching(/Default: `|Without it: /)])
  }
})

/** The options that the forms of a group name, with a value where they take one, and the row that tells of each. */
const rowsOf = (help: string): [option: string, takesValue: boolean, told: string][] => {
  const forms = help.split('\n').filter((line) => /^( {8}\[|backlot )/.test(line))
  const found = forms.flatMap((line) => [...line.matchAll(/\[(--[a-z-]+)(?: ([^\]]+))?/g)])
  const options = new Map(found.map(([, option = '', value]) => [option, value !== undefined]))
  return [...options].map(([option, takesValue]) => {
    const [, told = ''] = new RegExp(`^  ${option}(?: \\S+)? {2,}(.*(?:\\n {8,}.*)*)`, 'm').exec(help) ?? []
    return [option, takesValue, told.replace(/\s+/g, ' ')]
  })
}

test.each(['image', 'sandbox'])(
  'backlot %s explains each option, its unit, and what holds without it',
  async (group) => {
    const rows = rowsOf((await runBacklot([group, '--help'])).stdout)
    expect(rows.length).toBeGreaterThan(5)
    for (const [option, takesValue, told] of rows) {
      expect([option, told]).toEqual([option, expect.stringMatching(/^[A-Z`].*\.$/)])
      if (takesValue) expect([option, told]).toEqual([option, expect.stringMatching(/Default: `?\w|Without it: /)])
    }
  },
)

test('sizes, times and fields are told in the words of the command line', async () => {
  const help = async (...words: string[]) => (await runBacklot([...words, '--help'])).stdout
  expect(await help('vm', 'create')).toContain('without a unit in GB. Default: `2GB`.')
  expect(await help('vm', 'stop')).toContain('--grace-seconds SECONDS')
  expect(await help('vm', 'set')).toContain('`--source-location`')
  expect((await runBacklot(['help', 'vm', 'exec'])).stdout).toContain('--timeout-seconds SECONDS')
  expect(await help('vm')).toContain('backlot vm COMMAND --help')
})
