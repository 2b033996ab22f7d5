import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Image } from '@backlot/sdk'
import { stepCommand } from '../../ts/sdk/build/commands.ts'
import { stepsOf } from '../../ts/sdk/image/dict.ts'
import { powershellText, systemdText } from '../../ts/sdk/image/quote.ts'
import { runProgram } from '../support/guest.ts'
import { hostileTexts } from '../support/hostile-texts.ts'
import { pythonWith } from '../support/python-with.ts'
import { scratchFolder } from '../support/scratch.ts'

const minutes = 60_000
const { EMPTY: _, ...hostile } = hostileTexts
const hostileNames = Object.values(hostile)

/** Every kind of step that a system has, with texts that its language takes for something else. */
const everything = (image: Image, dst: string): Image => {
  const folder = scratchFolder('scripts')
  writeFileSync(join(folder, 'file'), 'text')
  let all = image
    .uvInstall(...hostileNames)
    .pipInstall(...hostileNames)
    .env(hostile)
    .copy(folder, dst)
    .expose(80)
  for (const text of hostileNames) all = all.run(text)
  return all
}
const macos = () => everything(Image.macos(), "/a 'b' $c").brewInstall(...hostileNames)
const windows = () =>
  everything(Image.windows(), "C:\\a 'b' $c")
    .chocoInstall(...hostileNames)
    .wingetInstall(...hostileNames)

/** What a parser of PowerShell finds: whether it takes the text whole, and the texts in single quotes. */
const parsed = async (scripts: readonly string[]): Promise<{ errors: string[]; literals: string[] }[]> => {
  const python = await pythonWith('tree-sitter==0.25.2', 'tree-sitter-powershell==0.26.4')
  const folder = scratchFolder('powershell')
  const files = scripts.map((script, index) => {
    const file = join(folder, `${index}.ps1`)
    writeFileSync(file, script)
    return file
  })
  const fixture = join(import.meta.dir, '../support/fixtures/powershell_parse.py')
  return JSON.parse(await runProgram(python, fixture, ...files))
}

/** A literal of PowerShell as the text that it is. */
const meant = (literal: string): string => literal.slice(1, -1).replaceAll("''", "'")

test('the user data of macOS is a script that shells read, with the tools that macOS has', async () => {
  const script = macos().toCloudInit()
  expect(script.startsWith('#!/bin/sh\n')).toBe(true)
  const file = join(scratchFolder('macos'), 'script')
  writeFileSync(file, script)
  for (const shell of ['bash', 'dash']) await runProgram(shell, '-n', file)
  expect(script).not.toMatch(/apt-get update|systemd|\/etc\/environment/)
  expect(script).toContain('launchctl setenv BRACES')
  expect(script).toContain('# macOS guards programs, not ports; served here: 80')
})

test('Homebrew is called by the owner of its folder with the names as they are', async () => {
  const [step] = stepsOf(
    Image.macos()
      .brewInstall(...hostileNames)
      .toDict(),
  )
  if (step === undefined) throw new Error('there is no step')
  const folder = scratchFolder('brew')
  const programs = {
    brew: '#!/bin/sh\nprintf "%s\\0" "$@"\n',
    id: '#!/bin/sh\necho 0\n',
    stat: '#!/bin/sh\necho owner\n',
    // Gives the words after the user and the variable to the program.
    sudo: '#!/bin/sh\n[ "$1 $2 $3" = "-H -u owner" ] || exit 9\nshift 3\nexec env "$@"\n',
  }
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), text, { mode: 0o755 })
  }
  const child = Bun.spawn(['sh', '-c', stepCommand(step, 'macos')], {
    env: { PATH: `${folder}:/usr/bin:/bin` },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  expect((await child.stdout.text()).split('\0').slice(0, -1)).toEqual(['install', '--', ...hostileNames])
})

test(
  'the user data of Windows is PowerShell to a parser, in ASCII, and its texts are whole',
  async () => {
    const script = windows().toCloudInit()
    expect(script.startsWith('#ps1_sysnative\n')).toBe(true)
    expect(script).toMatch(/^[\x20-\x7e\n]*$/)
    const [whole, wrong] = await parsed([script, 'if (1) { Write-Output "a'])
    expect(whole?.errors).toEqual([])
    expect(wrong?.errors).not.toEqual([])
    const texts = whole?.literals.map(meant) ?? []
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    for (const text of hostileNames) {
      const isAscii = /^[\x20-\x7e]*$/.test(text)
      // By winget, Chocolatey, uv, pip, as a command and as a variable.
      expect(texts.filter((each) => each === (isAscii ? text : base64(text)))).toHaveLength(6)
    }
  },
  minutes,
)

test('a text of PowerShell is one literal, or base64 where its reader would change it', () => {
  expect(powershellText("it's $x `n")).toBe("'it''s $x `n'")
  expect(powershellText('‘a’')).toBe("([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('4oCYYeKAmQ==')))")
})

test('a layer is one command for the shell of Windows', async () => {
  const [step] = stepsOf(Image.windows().wingetInstall("it's").toDict())
  if (step === undefined) throw new Error('there is no step')
  const [, encoded = ''] =
    /^powershell\.exe .* -EncodedCommand ([A-Za-z0-9+/=]+)$/.exec(stepCommand(step, 'windows')) ?? []
  expect(Buffer.from(encoded, 'base64').toString('utf16le')).toEndWith("& {\nInstall-WithWinget 'it''s'\n}")
})

// No system manager runs where tests do: the rules are those of systemd-system.conf(5) and systemd.syntax(7).
test('a variable for services is one word to systemd, without specifiers', () => {
  expect(systemdText('A=a "b" \\ 100%\n')).toBe('"A=a \\"b\\" \\\\ 100%%\\x0a"')
  expect(systemdText("A=it's $HOME é")).toBe(`"A=it's $HOME é"`)
  const text = Image.linux().env({ B: '1', A: '%h "x"\n' }).toCloudInit()
  for (const manager of ['system', 'user']) {
    expect(text).toContain(
      `DefaultEnvironment="B=1" "A=%%h \\"x\\"\\x0a"' >> /etc/systemd/${manager}.conf.d/backlot-image.conf`,
    )
  }
})
