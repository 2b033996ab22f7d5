/** Sandboxes with a root of their own, of root and of an ordinary user: a true one is built for each, which takes minutes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Image, runtimes, Sandbox, WarmPool } from '@backlot/sdk'
import { backlotCommand } from '../support/backlot.ts'
import { runProgram } from '../support/guest.ts'
import {
  type CallerWithIds,
  firstSubordinateId,
  homeOf,
  type Info,
  shellInside,
  type TestHome,
} from '../support/local.ts'
import { until } from '../support/until.ts'

/** What a desktop needs and no more. */
const packages = `tigervnc-standalone-server # the X server
openbox
dbus
at-spi2-core
libglib2.0-bin
ca-certificates
`
const patience = 120_000
const buildPatience = 480_000

const homeWith = (list: string, caller: CallerWithIds): TestHome => {
  const home = homeOf(caller)
  const path = join(home.folder, 'packages.txt')
  writeFileSync(path, list, { mode: 0o644 })
  home.environment.BACKLOT_LOCAL_PACKAGES = path
  return home
}

const building = (home: TestHome) =>
  Bun.spawn(home.command('--json', 'build'), {
    env: home.environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

const ending = async (child: ReturnType<typeof building>) => {
  const [text, errors, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { status, errors, output: JSON.parse(text) }
}

const rootsOf = (home: TestHome): string => join(home.folder, 'state/local-roots')

/** Folders of roots, whole ones and others. */
const rootsIn = (home: TestHome): string[] => readdirSync(rootsOf(home)).filter((name) => !name.endsWith('.lock'))

/** Processes with the home among their arguments or their variables, which all that a build starts have. */
const processesOf = (home: TestHome): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      const isOfHome = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(home.folder)
      return /^\d+$/.test(pid) && (isOfHome('cmdline') || isOfHome('environ'))
    } catch {
      return false
    }
  })

/** A program that is `backlot` as the caller of the home. */
const wrapperOf = (home: TestHome): string => {
  const path = join(home.folder, 'backlot')
  const words = home
    .command()
    .slice(0, -1)
    .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  writeFileSync(path, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 })
  return path
}

/** User 0 of the roots of each, as the host calls it. */
const owners = { root: 0x72000000, 'user-with-ids': firstSubordinateId } as const

/** The user of the host that a process of the sandbox is. */
const uidOutside = (home: TestHome, { name }: Info): number => {
  const { init } = JSON.parse(readFileSync(join(home.sandboxes, name, 'run.json'), 'utf8'))
  return Number(/^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${init.pid}/status`, 'utf8'))?.[1])
}

describe.skipIf(process.getuid?.() !== 0).each(['root', 'user-with-ids'] as const)('as %s', (caller) => {
  let home: TestHome

  beforeAll(async () => {
    home = homeWith(packages, caller)
    // What is left of other versions.
    for (const name of ['0123456789ab', '.building-0123456789ac']) {
      mkdirSync(join(rootsOf(home), name), { recursive: true })
    }
    if (caller !== 'root') await Bun.spawn(['chown', '-R', '54321', join(home.folder, 'state')]).exited
    // One is killed where it unpacks packages.
    const killed = building(home)
    let said = ''
    for await (const bytes of killed.stderr) {
      said += new TextDecoder().decode(bytes)
      if (said.includes('extracting archives')) break
    }
    expect(said).toContain('extracting archives')
    killed.kill('SIGKILL')
    await killed.exited
    await until('its processes to end', () => processesOf(home).length === 0)
    // All that it has left lies where the next build removes it.
    const unfinished = rootsIn(home).find((name) => name.startsWith('.building-') && !name.endsWith('ac')) ?? ''
    expect(readdirSync(join(rootsOf(home), unfinished, 'build/root'))).toContain('var')
    const { levels } = (await home.run('levels')).output as { levels: { level: string; works: boolean }[] }
    expect(levels[0]).toMatchObject({ level: 'own-root', works: false, remedy: 'backlot local build' })
    expect((await home.run('start', '--isolation', 'own-root')).output).toMatchObject({
      error: { code: 'unsupported' },
    })
  }, buildPatience)

  afterAll(() => home[Symbol.asyncDispose](), patience)

  test(
    'of two builds at once one builds and the other waits, and older roots go',
    async () => {
      const answers = await Promise.all([building(home), building(home)].map(ending))
      expect(answers.map(({ status }) => status)).toEqual([0, 0])
      expect(answers.map(({ output }) => output.is_new).toSorted()).toEqual([false, true])
      expect(answers.filter(({ errors }) => errors.includes('another program builds this root'))).toHaveLength(1)
      const built = answers.find(({ output }) => output.is_new)
      expect(built?.output.removed).toEqual(['0123456789ab'])
      expect(rootsIn(home)).toEqual([built?.output.version])
      const { levels } = (await home.ask('levels')) as { levels: unknown[] }
      expect(levels[0]).toMatchObject({ level: 'own-root', works: true, remedy: null })
    },
    buildPatience,
  )

  test(
    'the disk of a VM is made of it, whole, and its files belong to whom they belong in the root',
    async () => {
      const command = [...home.as, ...backlotCommand('image', 'build', 'linux-desktop')]
      const child = Bun.spawn(command, { env: home.environment, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
      const [text, errors, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
      expect([status, errors]).toEqual([0, ''])
      const disk = join(JSON.parse(text).folder, 'disk.raw')
      await runProgram('/sbin/e2fsck', '-fn', disk)
      const ownerOf = async (path: string) =>
        /User:\s+(\d+)\s+Group:\s+(\d+)/.exec(await runProgram('/sbin/debugfs', '-R', `stat ${path}`, disk))?.slice(1)
      const owners = await Promise.all(['/usr/bin/openbox', '/etc/shadow', '/etc/inittab'].map(ownerOf))
      expect(owners).toEqual([
        ['0', '0'],
        ['0', '42'],
        ['0', '0'],
      ])
    },
    buildPatience,
  )

  test(
    'packages are installed in one and not in another, stay over a restart, and no file of the host is seen',
    async () => {
      const info = await home.start('--network', 'internet', '--isolation', 'own-root')
      expect(info).toMatchObject({ isolation: 'own-root', root_version: rootsIn(home)[0], distro: 'debian' })
      const install = 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y hello'
      const said = await shellInside(info, `${install} 2>&1; hello; dpkg --audit`)
      expect(said).toEndWith('Hello, world!\n')
      for (const path of [home.folder, import.meta.dir]) {
        expect(await shellInside(info, `ls -d ${path} 2>&1`)).toContain('No such file')
      }
      // Nobody that owns anything here, and without the rights of whoever started it.
      expect(uidOutside(home, info)).toBe(owners[caller])
      const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8')
      expect(await shellInside(info, 'echo x 2>&1 >/proc/sys/kernel/core_pattern')).toContain('Permission denied')
      expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(pattern)
      expect(await shellInside(info, 'mount -t tmpfs none /mnt 2>&1; mknod /tmp/x b 8 0 2>&1')).toMatch(
        /permission denied[\s\S]*Operation not permitted/i,
      )
      const other = await home.start()
      expect(other).toMatchObject({ isolation: 'own-root' })
      expect(await shellInside(other, 'hello 2>&1')).toContain('not found')
      await home.ask('delete', other.name)
      await home.ask('stop', info.name)
      const again = (await home.ask('resume', info.name)) as typeof info
      expect(await shellInside(again, 'hello')).toBe('Hello, world!\n')
      await home.ask('delete', info.name)
      expect(readdirSync(home.sandboxes).filter((name) => !name.endsWith('.lock'))).toEqual([])
      expect(existsSync(join(rootsOf(home), rootsIn(home)[0] ?? '', 'usr/bin/hello'))).toBe(false)
    },
    patience,
  )

  test(
    'one whose program is killed is gone with all its processes, and the next look removes its files',
    async () => {
      const { info, owner } = await home.ephemeral('--isolation', 'own-root')
      expect(info).toMatchObject({ isolation: 'own-root' })
      await shellInside(info, 'setsid sleep 1000 >/dev/null 2>&1 & mkdir /closed && chown 5 /closed && chmod 0 /closed')
      const { init } = JSON.parse(readFileSync(join(home.sandboxes, info.name, 'run.json'), 'utf8'))
      owner.kill('SIGKILL')
      await owner.exited
      await until('its first process to end', () => !existsSync(`/proc/${init.pid}`))
      expect((await home.ask('list')).sandboxes).toEqual([])
      expect(readdirSync(home.sandboxes).filter((name) => !name.endsWith('.lock'))).toEqual([])
    },
    patience,
  )

  test(
    'files of the host are mounted where everybody may use them, and refused where not',
    async () => {
      const open = join(home.folder, 'open')
      const closed = join(home.folder, 'closed')
      for (const folder of [open, closed]) mkdirSync(folder)
      writeFileSync(join(open, 'note'), 'of the host\n')
      if (caller !== 'root') await Bun.spawn(['chown', '-R', '54321', open, closed]).exited
      chmodSync(open, 0o777)
      chmodSync(closed, 0o700)
      const info = await home.start('--isolation', 'own-root', '--mount', `${open}:/mnt/open`)
      expect(await shellInside(info, 'cat /mnt/open/note; echo inside >/mnt/open/new')).toBe('of the host\n')
      expect(statSync(join(open, 'new')).uid).toBe(owners[caller])
      await home.ask('delete', info.name)
      const { output } = await home.run('start', '--network', 'loopback', '--mount', `${closed}:/mnt/closed`)
      expect(output).toMatchObject({ error: { code: 'unsupported', message: expect.stringContaining('chmod o+rwX') } })
    },
    patience,
  )

  test(
    'files of many users are saved, copied and put back, and what was removed from the root stays removed',
    async () => {
      const info = await home.start('--name', 'origin', '--isolation', 'own-root')
      const make = `cd /root && echo one >note && chown 7:8 note && ln note hard && mkdir closed && chown 9 closed && chmod 0 closed &&
        rm /usr/bin/perl && rm -r /usr/share/doc && mkdir /usr/share/doc`
      const tell = `cd /root && stat -c '%n %u:%g %h %a' note hard closed; cat note; ls -A /usr/share/doc; ls /usr/bin/perl 2>&1`
      expect(await shellInside(info, make)).toBe('')
      const before = await shellInside(info, tell)
      expect(before).toMatch(/^note 7:8 2 644\nhard 7:8 2 644\nclosed 9:0 \d 0\none\nls: .*No such file/)
      const snapshot = await home.ask('snapshot', 'origin')
      await shellInside(info, 'echo two >~/note; touch /usr/share/doc/new')
      const [copy] = (await home.ask('fork', 'origin', 'copy')).sandboxes as Info[]
      if (copy === undefined) throw new Error('no copy')
      expect(await shellInside(copy, 'cat ~/note; ls /usr/share/doc; echo three >~/note')).toBe('two\nnew\n')
      expect(await shellInside(info, 'cat ~/note')).toBe('two\n')
      const back = (await home.ask('restore', 'origin', String(snapshot.id))) as Info
      expect(await shellInside(back, tell)).toBe(before)
      await home.ask('delete', 'origin')
      const second = await home.start('--name', 'second', '--snapshot', String(snapshot.id))
      expect(second).toMatchObject({ isolation: 'own-root', root_version: info.root_version })
      expect(await shellInside(second, tell)).toBe(before)
      await home.ask('delete', 'second')
      await home.ask('delete', 'copy')
      await home.ask('delete-snapshot', String(snapshot.id))
      expect(readdirSync(join(home.folder, 'state/local-snapshots'))).toEqual([])
    },
    patience,
  )

  test(
    'layers of an image install packages, in a pool too, and one that fails is named and leaves no sandbox',
    async () => {
      const before = { ...process.env }
      Object.assign(process.env, home.environment, { BACKLOT_BIN: wrapperOf(home) })
      try {
        const image = Image.desktop().aptInstall('hello').run('echo \'a "b" $c\' >/opt/text')
        {
          await using sandbox = await Sandbox.ephemeral(image, { runtime: 'local' })
          expect((await sandbox.getInfo()).isolation).toBe('own-root')
          expect((await sandbox.shell.run('hello; cat /opt/text')).stdout).toBe('Hello, world!\na "b" $c\n')
        }
        const failed = await Sandbox.create(image.run('exit 7'), { runtime: 'local' }).catch((error) => error)
        expect(failed).toMatchObject({ code: 'layer_failed' })
        expect(failed.message).toContain('Layer 3 (run) ended with 7')
        expect(await runtimes.local().list()).toEqual([])
        const options = { runtime: 'local' } as const
        const pool = await WarmPool.apply(Image.desktop().aptInstall('hello'), {
          ...options,
          name: 'packages',
          size: 1,
        })
        try {
          await using claimed = await pool.claim()
          expect((await claimed.shell.run('hello')).stdout).toBe('Hello, world!\n')
        } finally {
          await pool.delete()
        }
      } finally {
        for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
        Object.assign(process.env, before)
      }
    },
    patience,
  )

  test(
    'what layers make is made once, by one of two at once, and kept until it is pruned; a layer that fails keeps nothing',
    async () => {
      const before = { ...process.env }
      const store = join(home.folder, 'state/local-layers')
      const kept = () => readdirSync(store).filter((name) => !name.startsWith('.'))
      const wrapper = wrapperOf(home)
      Object.assign(process.env, home.environment, { BACKLOT_BIN: wrapper })
      const started: Sandbox[] = []
      const start = async (layered: Image) => {
        const sandbox = await Sandbox.create(layered, { runtime: 'local', network: 'loopback' })
        started.push(sandbox)
        return (await sandbox.shell.run('cat /opt/once; printenv SECRET')).stdout
      }
      try {
        // Another number each time that it is carried out.
        const image = Image.desktop().env({ SECRET: 'a "word"' }).run('cat /proc/sys/kernel/random/uuid >/opt/once')
        const others = existsSync(store) ? kept() : []
        const [one, other] = await Promise.all([start(image), start(image)])
        expect(one).toMatch(/^[0-9a-f-]{36}\na "word"\n$/)
        expect(other).toBe(one)
        const [mine, ...more] = kept().filter((name) => !others.includes(name))
        expect(more).toEqual([])
        expect(readFileSync(join(store, String(mine), 'record.json'), 'utf8')).not.toContain('word')
        expect(await start(image)).toBe(one)
        expect(await start(image.run('true'))).not.toBe(one)
        const count = kept().length
        const failed = await Sandbox.create(image.run('exit 7'), { runtime: 'local' }).catch((error) => error)
        expect(failed).toMatchObject({ code: 'layer_failed' })
        expect(kept()).toHaveLength(count)
        const ask = async (...words: string[]) =>
          JSON.parse(await Bun.spawn([wrapper, 'local', '--json', ...words], { env: process.env }).stdout.text())
        const pruned = await ask('prune')
        expect(pruned).toMatchObject({ layers: count, roots: [] })
        expect(pruned.freed_bytes).toBeGreaterThan(4096)
        expect(readdirSync(store)).toEqual([])
        expect(await ask('prune')).toEqual({ freed_bytes: 0, layers: 0, roots: [] })
        // None needs what was removed, also not to start again.
        const [first] = started
        const again = await Sandbox.restart(String(first?.name), { runtime: 'local' })
        expect((await again.shell.run('cat /opt/once; printenv SECRET')).stdout).toBe(one)
        expect(await start(image)).not.toBe(one)
      } finally {
        for (const { name } of started) await Sandbox.delete(name, { runtime: 'local' })
        for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
        Object.assign(process.env, before)
      }
    },
    patience,
  )

  test(
    'a package that there is none of is named, and nothing is left',
    async () => {
      await using other = homeWith('no-such-package-of-debian\n', caller)
      const { error } = (await other.run('build')).output as { error: { code: string; message: string } }
      expect(error.code).toBe('root_not_built')
      expect(error.message).toContain('no-such-package-of-debian')
      expect(rootsIn(other)).toEqual([])
      writeFileSync(join(other.folder, 'packages.txt'), '--hook=touch /x\n')
      expect((await other.run('build')).output).toMatchObject({ error: { code: 'invalid_environment' } })
    },
    patience,
  )
})
