/** The runtime `local` as a program sees it that uses the SDK. */
import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Image, runtimes, Sandbox, Snapshot, WarmPool } from '@backlot/sdk'
import { proving } from '../support/proves.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { scratchFolder } from '../support/scratch.ts'

const patience = 60_000
const image = Image.desktop()
const options = { runtime: 'local', network: 'loopback' } as const

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error) => error.code ?? String(error),
  )

test(
  'an ephemeral desktop is had, used, looked at, and gone with its scope',
  proving(['sandbox.runtime.stop', 'sandbox.runtime.is-ready'], async () => {
    sandboxHome()
    const runtime = runtimes.local()
    let name = ''
    {
      await using sandbox = await Sandbox.ephemeral(image, options)
      ;({ name } = sandbox)
      expect((await sandbox.shell.run('whoami')).stdout).toBe('user\n')
      expect(await sandbox.getDimensions()).toEqual({ width: 1280, height: 800 })
      expect((await sandbox.screenshot()).subarray(1, 4)).toEqual(Buffer.from('PNG'))
      const info = await sandbox.getInfo()
      expect(info).toMatchObject({ source: 'local', status: 'running', isolation: 'host-programs', osType: 'linux' })
      // Nobody asked for a distribution, so it differs from none.
      expect(info.warnings).toEqual([])
      expect((await runtime.list()).map((each) => each.name)).toEqual([name])
    }
    expect(await runtime.list()).toEqual([])
  }),
  patience,
)

test(
  'a sandbox that stays is suspended, resumed, restarted and deleted, and its log read',
  async () => {
    sandboxHome()
    const folder = scratchFolder('mounted')
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'file'), 'of the host ')
    const built = Image.desktop('gentoo')
      .env({ GREETING: 'a "quoted" $word' })
      .run('echo built >~/built')
      .env({ LATER: 'than a layer' })
    const mounts = [{ hostPath: folder, path: '/mnt/files', readOnly: true }]
    await using sandbox = await Sandbox.create(built, { ...options, name: 'stays', mounts, labels: { a: 'b=c' } })
    expect((await sandbox.getInfo()).warnings).toEqual([expect.stringContaining('rather than gentoo')])
    expect((await sandbox.shell.run('cat /mnt/files/file ~/built')).stdout).toBe('of the host built\n')
    expect((await sandbox.shell.run('printenv GREETING LATER')).stdout).toBe('a "quoted" $word\nthan a layer\n')
    await Sandbox.suspend('stays', options)
    expect((await Sandbox.getInfo('stays')).status).toBe('suspended')
    expect(await codeOf(Sandbox.connect('stays'))).toBe('sandbox_not_running')
    await using again = await Sandbox.resume('stays', options)
    expect((await again.shell.run('cat ~/built')).stdout).toBe('built\n')
    await using anew = await Sandbox.restart('stays')
    expect((await anew.shell.run('cat ~/built')).stdout).toBe('built\n')
    const lines: string[] = []
    for await (const line of runtimes.local().logs('stays')) lines.push(line)
    expect(lines.join('\n')).toContain('POST /cmd 200')
    await Sandbox.delete('stays')
    expect(await runtimes.local().list()).toEqual([])
  },
  patience,
)

test(
  'what it cannot is refused as declared, and leaves nothing',
  async () => {
    sandboxHome()
    const runtime = runtimes.local()
    const check = await runtime.check()
    expect(check).toMatchObject({ available: true, features: { isolation: 'host-programs', suspend: 'frozen' } })
    const refusals = [
      Sandbox.create(image.aptInstall('hello'), options),
      Sandbox.create(image, { ...options, network: { allow: ['example.com'] } }),
      Sandbox.create(Image.desktop('gentoo'), { ...options, strict: true }),
      Sandbox.create(image, { ...options, runtime: runtimes.local({ isolation: 'own-root' }) }),
      Sandbox.create(Image.windows(), options),
    ]
    expect(await Promise.all(refusals.map(codeOf))).toEqual(refusals.map(() => 'unsupported'))
    expect(await codeOf(Sandbox.create(image.run('exit 3'), { ...options, runtime }))).toBe('layer_failed')
    expect(await runtime.list()).toEqual([])
    await runtime.stop('nobody')
  },
  patience,
)

test(
  'its files are saved, put back and copied, and its running programs are not',
  async () => {
    sandboxHome()
    await using sandbox = await Sandbox.ephemeral(image, { ...options, labels: { a: 'b' } })
    await sandbox.shell.run('echo one >~/note')
    expect(await codeOf(sandbox.snapshot())).toBe('unsupported')
    const snapshot = await sandbox.snapshot({ memory: false, name: 'first' })
    expect(snapshot).toMatchObject({ name: 'first', sandbox: sandbox.name, source: 'local', memory: false })
    expect((await Snapshot.list({ runtime: 'local', sandbox: sandbox.name })).map(({ id }) => id)).toEqual([
      snapshot.id,
    ])
    await sandbox.shell.run('echo two >~/note')
    expect(await codeOf(sandbox.fork(2))).toBe('unsupported')
    {
      await using forks = await sandbox.fork(2, { memory: false })
      const notes = await Promise.all(forks.map(async (fork) => (await fork.shell.run('cat ~/note')).stdout))
      expect(notes).toEqual(['two\n', 'two\n'])
      expect(forks.map(({ ephemeral }) => ephemeral)).toEqual([true, true])
    }
    await sandbox.restore(snapshot)
    expect((await sandbox.shell.run('cat ~/note')).stdout).toBe('one\n')
    {
      await using other = await Sandbox.ephemeral(await Snapshot.get('first', { runtime: 'local' }), options)
      expect((await other.shell.run('cat ~/note')).stdout).toBe('one\n')
    }
    await snapshot.delete()
    expect(await codeOf(Snapshot.get('first', { runtime: 'local' }))).toBe('snapshot_not_found')
    expect((await runtimes.local().list()).map(({ name }) => name)).toEqual([sandbox.name])
  },
  patience,
)

test(
  'a pool keeps sandboxes of an image ready, and each is claimed once',
  async () => {
    sandboxHome()
    const built = image.env({ GREETING: 'a "word"' }).run('echo built >~/built')
    const pool = await WarmPool.apply(built, { ...options, name: 'spare', size: 2 })
    try {
      const claimed = await Promise.all([pool.claim(), pool.claim({ name: 'mine' })])
      try {
        expect(claimed.map(({ ephemeral }) => ephemeral)).toEqual([true, true])
        expect(new Set(claimed.map(({ name }) => name)).size).toBe(2)
        for (const sandbox of claimed) {
          expect((await sandbox.shell.run('cat ~/built; printenv GREETING')).stdout).toBe('built\na "word"\n')
        }
        expect(await pool.getInfo()).toMatchObject({ name: 'spare', size: 2 })
        expect((await WarmPool.list({ runtime: 'local' })).map(({ name }) => name)).toEqual(['spare'])
      } finally {
        for (const sandbox of claimed) await sandbox[Symbol.asyncDispose]()
      }
    } finally {
      await pool.delete()
    }
    expect(await codeOf(WarmPool.get('spare', { runtime: 'local' }))).toBe('pool_not_found')
    expect(await codeOf(pool.claim())).toBe('pool_not_found')
    expect(await codeOf(WarmPool.apply(image.aptInstall('hello'), { ...options, name: 'spare', size: 1 }))).toBe(
      'unsupported',
    )
    expect(await runtimes.local().list()).toEqual([])
  },
  patience,
)

test('where namespaces do not work a desktop without isolation is had by who accepts one, and by nobody else', async () => {
  const { folder } = sandboxHome()
  const before = process.env.PATH
  const fake = join(folder, 'fake')
  mkdirSync(fake)
  // By which Landlock is no wall either.
  using _ = Bun.listen({ unix: join(folder, 'service'), socket: { data() {} } })
  writeFileSync(join(fake, 'bwrap'), '#!/bin/sh\necho "bwrap: No permissions to create a new namespace" >&2\nexit 1\n')
  chmodSync(join(fake, 'bwrap'), 0o755)
  process.env.PATH = `${fake}:${before}`
  try {
    expect(await runtimes.local().check()).toMatchObject({ available: false })
    const runtime = runtimes.local({ isolation: 'none' })
    expect(await runtime.check()).toMatchObject({
      available: true,
      features: { isolation: 'none', network: ['internet'] },
    })
    expect(await codeOf(runtime.applyPool(image, { name: 'bare', size: 1 }))).toBe('unsupported')
    await using sandbox = await Sandbox.ephemeral(image, { runtime })
    expect((await sandbox.shell.run('readlink /proc/self/ns/pid')).stdout).toBe(
      `${readlinkSync('/proc/self/ns/pid')}\n`,
    )
    const info = await sandbox.getInfo()
    expect(info).toMatchObject({ isolation: 'none', status: 'running' })
    expect(info.warnings).toContainEqual(expect.stringContaining('Nothing parts'))
    await sandbox.shell.run('echo here >~/kept')
    const snapshot = await sandbox.snapshot({ memory: false })
    await using forks = await sandbox.fork(1, { memory: false })
    await using fresh = await Sandbox.ephemeral(snapshot, { runtime })
    for (const each of [...forks, fresh]) {
      expect((await each.shell.run('cat ~/kept')).stdout).toBe('here\n')
      expect((await each.getInfo()).isolation).toBe('none')
    }
    await snapshot.delete()
  } finally {
    process.env.PATH = before
  }
})
