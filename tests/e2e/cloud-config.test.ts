import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { python } from '../support/applications.ts'
import { runProgram } from '../support/guest.ts'
import { until } from '../support/until.ts'
import { startVmHost } from '../support/vmhost.ts'
import { booted, call, create, giveImage, image, run } from '../support/vms.ts'

const minutes = 60_000
const reader = join(import.meta.dir, '../../images/linux-minimal/cloud-config.awk')
const fixture = join(import.meta.dir, '../support/fixtures/shellified.py')

/** Commands in every form that YAML has for them, and what shells and parsers stumble over in them. */
const userData = String.raw`#cloud-config
hostname: alpha # not beta
runcmd:
  - echo plain, with a comma # and a comment
  - [sh, -c, "echo 'a, list' [of] words"]
  - [ printf, '%s\n', 'it''s, "quoted"', "tab\there \"x\" \\ \u00fc \U0001F600 é", 'ünïcode: 世界' ]
  - - printf
    - "%s|"
    - block, list
    - 'it''s'
    # A comment between.
    - "the end\n"
  - |
    for each in 'a, b' "c # d"; do
      echo "$each" # kept
    done

    echo "it's over"
  - >-
    echo folded
    into one, line
  - "echo \"double\", 'single' # no comment"
  - 'echo ''single'', "double"'
  - echo continued
    on the next, line
  - [ echo,
      over, "several, lines" ]
  - echo "a:colon" && echo '[brackets]' {braces} "#nocomment" x#y
  -   [echo, "", ' ', 5]
`

let folder: string
/** The script that cloud-init would run, and what it prints. */
let script: string
let printed: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlot-cloud-'))
  await writeFile(join(folder, 'user-data'), userData)
  script = await runProgram(python, fixture, join(folder, 'user-data'))
  printed = await runProgram('sh', '-c', script)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('linux-minimal reads `runcmd` as cloud-init does', async () => {
  const lines = (await runProgram('env', 'LC_ALL=C', 'awk', '-f', reader, join(folder, 'user-data'))).split('\n')
  const commands = lines.flatMap((line) => (line.startsWith('runcmd ') ? [line.slice('runcmd '.length)] : []))
  expect(['#!/bin/sh', ...commands, ''].join('\n')).toBe(script)
  expect(lines[0]).toBe('hostname alpha')
})

test('lists between brackets, keys that are not known and what is no YAML are told apart', async () => {
  await writeFile(
    join(folder, 'short'),
    `runcmd: [[ls, -l], "echo 'x, y'", echo z]\nssh_authorized_keys:\n- ssh-ed25519 AAAA# me@host\npackages: [ vim,\n  git ]\nnonsense\n`,
  )
  expect((await runProgram('env', 'LC_ALL=C', 'awk', '-f', reader, join(folder, 'short'))).split('\n')).toEqual([
    ...["runcmd 'ls' '-l'", "runcmd echo 'x, y'", 'runcmd echo z', 'ssh_authorized_keys ssh-ed25519 AAAA# me@host'],
    ...['packages vim', 'packages git', 'unread nonsense', ''],
  ])
})

test(
  'user data reaches a guest byte for byte, and its commands do there what they do here',
  async () => {
    await using host = await startVmHost(['--port', '0', '--grace-seconds', '0'])
    await giveImage(host)
    await create(host, 'cloud', { image, userData })
    await booted(await run(host, 'cloud'))
    const inGuest = async (command: string) => {
      const [status, { stdout }] = await call(host, 'POST', '/svc/vms/cloud/exec', { command })
      return status === 200 && String(stdout)
    }
    await until(
      'the first boot to be done',
      async () => (await inGuest('test -e /var/lib/backlot/first-boot-done && echo done')) === 'done\n',
      120_000,
    )
    expect(await inGuest('cat /run/seed/user-data')).toBe(userData)
    const log = { command: 'cat /var/log/first-boot.log' }
    expect(await call(host, 'POST', '/svc/vms/cloud/exec', log)).toEqual([
      200,
      { stdout: printed, stderr: '', stdoutTruncated: false, stderrTruncated: false, exitCode: 0 },
    ])
    // A service that gives guests no time does not wait for one that would shut down.
    expect(await call(host, 'POST', '/svc/vms/cloud/stop')).toEqual([
      200,
      expect.objectContaining({ method: 'forced' }),
    ])
  },
  4 * minutes,
)
