import { beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BacklotError, Image } from '@backlot/sdk'
import { python } from '../support/applications.ts'
import { afterCloudInit, checkSchema } from '../support/cloud-init.ts'
import { runProgram } from '../support/guest.ts'
import { hostileTexts } from '../support/hostile-texts.ts'
import { proving } from '../support/proves.ts'
import { scratchFolder } from '../support/scratch.ts'
import { describedImages } from '../support/sdk-images.ts'

const minutes = 60_000
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const hostile = Object.entries(hostileTexts)

// Fetches at the first run what the tests use.
beforeAll(() => checkSchema([]), 5 * minutes)

/** Builds an image with cloud-init, and gives what a script prints on the machine afterwards. */
const built = (image: Image, script: string): Promise<string> => {
  const folder = scratchFolder('cloud-init')
  writeFileSync(join(folder, 'user-data'), image.toCloudInit())
  writeFileSync(join(folder, 'script'), script)
  return afterCloudInit(join(folder, 'user-data'), join(folder, 'script'))
}

test(
  'cloud-init takes the user data of every Linux image for valid',
  proving(['sandbox.image.to-cloud-init'], async () => {
    const folder = scratchFolder('schema')
    writeFileSync(join(folder, 'here'), 'text')
    const all = Object.values(describedImages).flatMap(([image]) => {
      // The files that those images copy are not there.
      const { files: _, steps: __, ...dict } = image.toDict()
      return image.osType === 'linux' ? [Image.fromDict(dict)] : []
    })
    all.push(Image.linux().copy(join(folder, 'here'), '/there').expose(80).run('true').env(hostileTexts))
    for (const [, text] of hostile) if (text !== '') all.push(Image.linux().run(text))
    const paths = all.map((image, index) => {
      const path = join(folder, `${index}.yaml`)
      const text = image.toCloudInit()
      expect(text.startsWith('#cloud-config\n')).toBe(true)
      writeFileSync(path, text)
      return path
    })
    await checkSchema(paths)
    // The witness tells what is not valid.
    writeFileSync(join(folder, 'wrong.yaml'), '#cloud-config\nruncmd: 7\n')
    await expect(checkSchema([join(folder, 'wrong.yaml')])).rejects.toThrow('runcmd')
  }),
  minutes,
)

test('the guest image of ours reads the same commands from it as cloud-init does', async () => {
  const folder = scratchFolder('awk')
  writeFileSync(join(folder, 'here'), 'text')
  let image = Image.linux().env(hostileTexts).copy(folder, '/there').uvInstall('a').expose(80)
  for (const [, text] of hostile) if (text !== '') image = image.run(text)
  const file = join(folder, 'user-data')
  writeFileSync(file, image.toCloudInit())
  const reader = join(import.meta.dir, '../../images/linux-minimal/cloud-config.awk')
  const lines = (await runProgram('env', 'LC_ALL=C', 'awk', '-f', reader, file)).split('\n').slice(0, -1)
  expect(lines.filter((line) => !line.startsWith('runcmd '))).toEqual([])
  const script = ['#!/bin/sh', ...lines.map((line) => line.slice('runcmd '.length)), ''].join('\n')
  expect(script).toBe(await runProgram(python, join(import.meta.dir, '../support/fixtures/shellified.py'), file))
})

test(
  'commands and variables arrive as they are, at build time and in login shells',
  proving(['sandbox.image.run', 'sandbox.image.env'], async () => {
    let image = Image.linux().run('printf "%s" "$(printenv QUOTES || echo unset)" > /srv/before').env(hostileTexts)
    for (const [name, text] of hostile) {
      image = image
        .run(`printf '%s' ${quote(text)} > /srv/${name}.command`)
        .run(`printf '%s' "$${name}" > /srv/${name}.variable`)
    }
    const read = `
      for file in /srv/*; do printf '%s=' "\${file##*/}"; base64 -w 0 "$file"; echo; done
      for shell in bash sh; do for name in ${Object.keys(hostileTexts).join(' ')}; do
        printf '%s.%s=' "$name" "$shell"; env -i "$shell" -lc 'printenv "$1" | base64 -w 0' - "$name"; echo
      done; done
      ls /etc/pwned 2>/dev/null || echo safe=
    `
    const lines = (await built(image, read)).trim().split('\n')
    const found = Object.fromEntries(
      lines.map((line) => {
        const [, name = '', text = ''] = /^([^=]+)=(.*)$/.exec(line) ?? []
        return [name, Buffer.from(text, 'base64').toString()]
      }),
    )
    const expected = hostile.flatMap(([name, text]) => [
      ...[`${name}.command`, `${name}.variable`].map((key) => [key, text]),
      // `printenv` ends with a line feed of its own.
      ...['bash', 'sh'].map((shell) => [`${name}.${shell}`, `${text}\n`]),
    ])
    expect(found).toEqual({ ...Object.fromEntries(expected), before: 'unset', safe: '' })
  }),
  minutes,
)

test(
  'a variable that PAM can hold reaches sessions without a shell, and one that it would change is left out',
  proving(['sandbox.image.env'], async () => {
    const image = Image.linux()
      .env({ ...hostileTexts, PLAIN: 'a=b, c:/d é', TWICE: '1' })
      .env({ TWICE: '2' })
    const session = await built(image, 'env -i PATH=/usr/bin:/bin su -s /usr/bin/env nobody')
    expect(session.split('\n').filter((line) => /^[A-Z]+=/.test(line))).toEqual(
      expect.arrayContaining(['PLAIN=a=b, c:/d é', 'TWICE=2', `PERCENT=${hostileTexts.PERCENT}`, 'EMPTY=']),
    )
    for (const name of ['QUOTES', 'DOLLARS', 'HASH', 'SPACES', 'LINES']) expect(session).not.toContain(`\n${name}=`)
  }),
  minutes,
)

test(
  'files and folders arrive with their bytes, modes and links, at their place among the layers',
  proving(['sandbox.image.copy'], async () => {
    const source = join(scratchFolder('copy'), "a 'folder' $HOME")
    mkdirSync(join(source, 'empty'), { recursive: true })
    mkdirSync(join(source, 'ünter'))
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    const zeros = new Uint8Array(300_000)
    writeFileSync(join(source, 'bytes'), bytes)
    writeFileSync(join(source, 'nothing'), '')
    writeFileSync(join(source, 'ünter', `it's "$x"\n%s`), zeros)
    chmodSync(join(source, 'bytes'), 0o640)
    chmodSync(join(source, 'nothing'), 0o755)
    chmodSync(join(source, 'empty'), 0o700)
    symlinkSync('../bytes', join(source, 'ünter', 'link'))
    const image = Image.linux()
      .run('test ! -e /srv/one')
      .copy(join(source, 'bytes'), '/srv/one/two')
      .run('cp /srv/one/two /srv/at-once')
      .copy(source, "/srv/the 'folder' $HOME/")
      .copy(join(source, 'bytes'), '/srv/into/')
      .copy(source, '/etc')
      .run('printf more >> /srv/one/two')
    const folder = `"/srv/the 'folder' \\$HOME"`
    const read = `
      cd ${folder}; find . -printf '%y %m %p %l|'; echo; sha256sum < bytes; cat ünter/it* | sha256sum
      sha256sum < /srv/at-once; sha256sum < /srv/into/bytes; stat -c %a /srv/one/two /etc; tail -c 4 /srv/one/two
    `
    const [found = '', ...lines] = (await built(image, read))
      .split('\n')
      .reduce<string[]>((all, line, index, { length }) => {
        // The name of a file holds a line feed.
        if (all[0] === undefined || (!all[0].endsWith('|') && index < length))
          all[0] = all[0] === undefined ? line : `${all[0]}\n${line}`
        else all.push(line)
        return all
      }, [])
    const sum = (content: Uint8Array) => `${new Bun.CryptoHasher('sha256').update(content).digest('hex')}  -`
    expect(found.split('|').filter(Boolean).toSorted()).toEqual(
      [
        ...['d 755 . ', 'd 700 ./empty ', 'd 755 ./ünter ', 'f 640 ./bytes ', 'f 755 ./nothing '],
        ...[`f 644 ./ünter/it's "$x"\n%s `, 'l 777 ./ünter/link ../bytes'],
      ].toSorted(),
    )
    expect(lines).toEqual([sum(bytes), sum(zeros), sum(bytes), sum(bytes), '640', '755', 'more'])
  }),
  minutes,
)

test(
  'the words of package managers arrive one by one, and a layer that fails ends the build',
  proving(['sandbox.image.apt-install', 'sandbox.image.pip-install'], async () => {
    const folder = scratchFolder('witness')
    // Writes down what it is called with, and where.
    const witness =
      '#!/bin/sh\nprintf "%s\\n" "$(basename "$0")" "$@" end >> /srv/calls; [ "$1$2" != -mpip ] || [ "$3" != fail ]'
    for (const name of ['apt-get', 'python3']) {
      writeFileSync(join(folder, name), witness)
      chmodSync(join(folder, name), 0o755)
    }
    const names = ["it's", '$(touch /etc/pwned)', 'a b', 'c=1:2.3+dfsg', 'é"', '*']
    const image = Image.linux()
      .env({ PATH: `${folder}:/usr/sbin:/usr/bin:/sbin:/bin` })
      .aptInstall(...names)
      .pipInstall(...names)
    const said = await built(image, 'cat /srv/calls; ls /etc/pwned 2>/dev/null || echo safe')
    const calls = said
      .trim()
      .split('\nend\n')
      .map((call) => call.split('\n'))
    const apt = ['apt-get', '-q', '-o', 'DPkg::Lock::Timeout=600']
    expect(calls).toEqual([
      [...apt, 'update'],
      [...apt, 'install', '-y', '--', ...names],
      ['python3', '-m', 'pip', '--version'],
      ['python3', '-m', 'pip', 'install', '--no-cache-dir', '--no-input', '--', ...names],
      ['safe'],
    ])
    const failing = Image.linux().run('echo first > /srv/first; exit 3').run('echo second > /srv/second')
    await expect(built(failing, 'true')).rejects.toThrow(/step 1 of 2: run\n.*Runparts: 1 failures/s)
  }),
  minutes,
)

test(
  'exposed ports are opened in the firewall that is at work',
  proving(['sandbox.image.expose'], async () => {
    const folder = scratchFolder('firewall')
    const program = '#!/bin/sh\necho "$@" >> /srv/ufw; [ "$1" != status ] || echo "Status: $STATE"'
    writeFileSync(join(folder, 'ufw'), program)
    chmodSync(join(folder, 'ufw'), 0o755)
    const calls = (state: string) => {
      const image = Image.linux()
        .env({ PATH: `${folder}:/usr/bin:/bin` })
        .expose(8080)
        .expose(80)
        .expose(80)
      // The firewall is asked in the shell of the whole build, which has the variables of cloud-init.
      const path = `${folder}:${process.env.PATH}`
      return withVariables({ PATH: path, STATE: state }, () => built(image, 'cat /srv/ufw'))
    }
    expect(await calls('active')).toBe('status\nallow 8080/tcp\nallow 80/tcp\n')
    expect(await calls('inactive')).toBe('status\n')
  }),
  minutes,
)

test('what no user data can do is refused with the way out', () => {
  const refused = (act: () => unknown) => {
    try {
      act()
    } catch (error) {
      if (BacklotError.is(error)) return [error.code, error.message]
    }
    throw new Error('it was not refused')
  }
  const folder = scratchFolder('refused')
  expect(refused(() => Image.android().toCloudInit())).toEqual([
    'unsupported',
    expect.stringContaining('once the device runs'),
  ])
  const missing = join(folder, 'missing')
  expect(refused(() => Image.linux().copy(missing, '/a').toCloudInit())).toEqual([
    'file_not_found',
    `"${missing}" on this machine cannot be used (ENOENT); look at the path and its rights.`,
  ])
  Bun.spawnSync(['mkfifo', join(folder, 'pipe')])
  expect(refused(() => Image.linux().copy(folder, '/a').toCloudInit())).toEqual([
    'invalid_argument',
    expect.stringContaining(`"${join(folder, 'pipe')}" is no file, folder or link`),
  ])
  Bun.spawnSync(['truncate', '-s', '65M', join(folder, 'large')])
  expect(refused(() => Image.linux().copy(join(folder, 'large'), '/a').toCloudInit())).toEqual([
    'unsupported',
    expect.stringContaining('sandbox.files.upload'),
  ])
})

/** Does something while this process has other variables. */
const withVariables = async <T>(variables: Readonly<Record<string, string>>, act: () => Promise<T>): Promise<T> => {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  try {
    return await act()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
