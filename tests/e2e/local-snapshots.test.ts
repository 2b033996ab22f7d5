/** The files of sandboxes, saved, put back and copied. */
import { describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askInside, callers, homeOf, type Info, shellInside, type TestHome } from '../support/local.ts'
import { until } from '../support/until.ts'

const patience = 90_000

const storeOf = (home: TestHome): string => join(home.folder, 'state/local-snapshots')

const codeOf = async (home: TestHome, ...words: string[]): Promise<unknown> => {
  const { output } = await home.run(...words)
  return (output as { error?: { code?: unknown } } | null)?.error?.code
}

interface Snapshot {
  readonly id: string
  readonly name: string | null
  readonly sandbox: string
  readonly size_bytes: number
}

const snapshotsOf = async (home: TestHome): Promise<Snapshot[]> => (await home.ask('snapshots')).snapshots as Snapshot[]

/** Files of every kind, and what tells of them in a line each. */
const make = `cd ~ && echo text >note && ln note hard && ln -s note soft && truncate -s 200M sparse && mkfifo pipe &&
  python3 -c "import os; os.setxattr('note', 'user.origin', b'here')" && touch -d 2001-02-03T04:05:06Z note &&
  mkdir -p closed/in && echo hidden >closed/in/file && chmod 0 closed/in/file closed/in closed && chmod 2750 /srv && echo out >/srv/out`
const tell = `cd ~ && stat -c '%n %F %h %s %a' note hard soft sparse pipe closed /srv /srv/out && [ $(stat -c %b sparse) = 0 ] && echo hole
  stat -c '%y %U' note; python3 -c "import os; print(os.getxattr('note', 'user.origin'))"; readlink soft
  chmod 700 closed; chmod 700 closed/in; chmod 400 closed/in/file; cat closed/in/file; chmod 0 closed/in/file closed/in closed`

describe.each(callers)('a snapshot of a sandbox of %s', (caller) => {
  test(
    'has all its files as they are, outlives it, and is what others begin with',
    async () => {
      await using home = homeOf(caller)
      const info = await home.start('--name', 'origin')
      expect(await shellInside(info, make)).toBe('')
      const before = await shellInside(info, tell)
      expect(before).toContain('hole\n')
      expect(before).toContain('hidden\n')
      expect(before).toContain("b'here'")
      const snapshot = await home.ask('snapshot', 'origin', '--name', 'first')
      expect(snapshot).toMatchObject({ name: 'first', sandbox: 'origin', source: 'local', memory: false })
      // The hole takes nothing.
      expect(snapshot.size_bytes).toBeGreaterThan(4096)
      expect(snapshot.size_bytes).toBeLessThan(50_000_000)
      expect(await shellInside(info, 'echo later >note; echo goes on')).toBe('goes on\n')
      await home.ask('delete', 'origin')
      expect(await snapshotsOf(home)).toEqual([snapshot as unknown as Snapshot])
      const second = await home.start('--name', 'second', '--snapshot', 'first')
      expect(await shellInside(second, tell)).toBe(before)
      await home.ask('delete-snapshot', String(snapshot.id))
      expect(await shellInside(second, 'cat note')).toBe('text\n')
      expect(await codeOf(home, 'start', '--network', 'loopback', '--snapshot', 'first')).toBe('snapshot_not_found')
      expect(readdirSync(storeOf(home))).toEqual([])
    },
    patience,
  )

  test(
    'is put back, while the sandbox runs or is stopped, and copies begin with its files',
    async () => {
      await using home = homeOf(caller)
      const info = await home.start('--name', 'box', '--label', 'a=b')
      await shellInside(info, 'echo one >note')
      const { id } = await home.ask('snapshot', 'box')
      await shellInside(info, 'echo two >note; echo new >other')
      const [copy, other] = (await home.ask('fork', 'box', 'copy', 'other')).sandboxes as Info[]
      if (copy === undefined || other === undefined) throw new Error('no copies')
      expect([copy.name, other.name, copy.labels]).toEqual(['copy', 'other', { a: 'b' }])
      expect(copy.api_key).not.toBe(info.api_key)
      expect(await shellInside(copy, 'cat note other; echo mine >note')).toBe('two\nnew\n')
      expect(await shellInside(other, 'cat note')).toBe('two\n')
      const back = (await home.ask('restore', 'box', String(id))) as Info
      expect(back).toMatchObject({ name: 'box', status: 'running' })
      expect(await shellInside(back, 'cat note; ls')).toBe('one\nnote\n')
      await shellInside(back, 'echo three >note')
      await home.ask('stop', 'box')
      const again = (await home.ask('restore', 'box', String(id))) as Info
      expect(await shellInside(again, 'cat note')).toBe('one\n')
      expect(readdirSync(join(home.sandboxes, 'box')).filter((name) => /^(files|disk)/.test(name))).toEqual(['files'])
      await home.ask('delete-snapshot', String(id))
    },
    patience,
  )

  test(
    'is of one moment, and one that its program dies over lets the sandbox go on and leaves nothing',
    async () => {
      await using home = homeOf(caller)
      const info = await home.start('--name', 'busy')
      // Its folders are copied one after the other, home first.
      await shellInside(
        info,
        `head -c 60000000 /dev/urandom >filler
        cat >write.py <<'END'
import itertools, os
a, b = os.open('/home/user/a', os.O_CREAT | os.O_RDWR), os.open('/srv/b', os.O_CREAT | os.O_RDWR)
for n in itertools.count(10 ** 9):
    os.pwrite(a, str(n).encode(), 0)
    os.pwrite(b, str(n).encode(), 0)
END
        setsid python3 write.py >/dev/null 2>&1 &`,
      )
      const numberIn = (path: string): number => Number(readFileSync(path, 'utf8'))
      const files = join(home.sandboxes, 'busy/files')
      await until('the program to write', () => existsSync(join(files, 'srv/b')) && numberIn(join(files, 'srv/b')) > 0)
      const { id } = await home.ask('snapshot', 'busy')
      const saved = join(storeOf(home), String(id), 'files')
      const difference = numberIn(join(saved, 'home/a')) - numberIn(join(saved, 'srv/b'))
      expect([0, 1]).toContain(difference)

      const child = Bun.spawn(home.command('--json', 'snapshot', 'busy'), {
        env: home.environment,
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'ignore',
      })
      const run = join(home.sandboxes, 'busy/run.json')
      const isCopied = () => JSON.parse(readFileSync(run, 'utf8')).is_copied === true
      await until('the copy to be under way', isCopied)
      child.kill('SIGKILL')
      await child.exited
      await until('the programs to go on by themselves', () => !isCopied())
      const then = numberIn(join(files, 'home/a'))
      await until('the program to write', () => numberIn(join(files, 'home/a')) > then)
      expect((await snapshotsOf(home)).map((each) => each.id)).toEqual([String(id)])
      expect(readdirSync(storeOf(home))).toEqual([String(id)])
      expect((await home.ask('info', 'busy')).status).toBe('running')
      await home.ask('delete-snapshot', String(id))
    },
    patience,
  )
})

test(
  'who calls while files are copied waits, and a suspended sandbox stays so',
  async () => {
    await using home = homeOf('user')
    const info = await home.start('--name', 'asked')
    await shellInside(info, 'head -c 150000000 /dev/urandom >filler')
    const taken = home.ask('snapshot', 'asked')
    const run = join(home.sandboxes, 'asked/run.json')
    await until('the copy to be under way', () => JSON.parse(readFileSync(run, 'utf8')).is_copied === true)
    expect((await askInside(info, 'version')).success).toBe(true)
    await home.ask('delete-snapshot', String((await taken).id))
    await home.ask('suspend', 'asked')
    await home.ask('delete-snapshot', String((await home.ask('snapshot', 'asked')).id))
    expect((await home.ask('info', 'asked')).status).toBe('suspended')
  },
  patience,
)

test(
  'an exchange of files that was cut short is done or not done when the sandbox is next used',
  async () => {
    await using home = homeOf(callers[0])
    const info = await home.start('--name', 'cut')
    await shellInside(info, 'echo old >note')
    await home.ask('stop', 'cut')
    const at = (...parts: string[]) => join(home.sandboxes, 'cut', ...parts)
    const isLeft = () => ['files.new', 'files.old'].some((name) => existsSync(at(name)))
    // Not all of the new ones had been copied.
    cpSync(at('files'), at('files.new'), { recursive: true, preserveTimestamps: true })
    rmSync(at('files.new/home/note'))
    const first = (await home.ask('resume', 'cut')) as Info
    expect([await shellInside(first, 'cat note'), isLeft()]).toEqual(['old\n', false])
    await home.ask('stop', 'cut')
    // The old ones had left their place.
    Bun.spawnSync(['cp', '-a', at('files'), at('files.new')])
    writeFileSync(at('files.new/home/note'), 'new\n')
    renameSync(at('files'), at('files.old'))
    const second = (await home.ask('resume', 'cut')) as Info
    expect([await shellInside(second, 'cat note'), isLeft()]).toEqual(['new\n', false])
  },
  patience,
)

test(
  'copies are all there or none, and what cannot be is refused',
  async () => {
    await using home = homeOf('user')
    await home.start('--name', 'box')
    await home.start('--name', 'taken')
    expect(await codeOf(home, 'fork', 'box', 'one', 'taken')).toBe('sandbox_exists')
    const { sandboxes } = (await home.ask('list')) as { sandboxes: Info[] }
    expect(sandboxes.map(({ name }) => name).toSorted()).toEqual(['box', 'taken'])
    expect(await codeOf(home, 'fork', 'box', '--memory')).toBe('unsupported')
    expect(await codeOf(home, 'restore', 'box', 'nothing')).toBe('snapshot_not_found')
    expect(await codeOf(home, 'delete-snapshot', 'nothing')).toBe('snapshot_not_found')
    expect(await codeOf(home, 'snapshot', 'nobody')).toBe('sandbox_not_found')
    expect(await codeOf(home, 'snapshot')).toBe('usage')
    const { id } = await home.ask('snapshot', 'box')
    const { info } = await home.ephemeral('--name', 'brief')
    expect(await codeOf(home, 'restore', info.name, String(id))).toBe('unsupported')
    expect(readdirSync(storeOf(home))).toEqual([String(id)])
  },
  patience,
)

const canMount = process.getuid?.() === 0

test.skipIf(!canMount)(
  'a full disk leaves no half of a snapshot, and the sandbox goes on',
  async () => {
    await using home = homeOf('user')
    const info = await home.start('--name', 'large')
    await shellInside(info, 'head -c 60000000 /dev/urandom >filler')
    mkdirSync(storeOf(home), { recursive: true, mode: 0o700 })
    const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=20m,mode=0777', 'small', storeOf(home)])
    expect(mounted.exitCode).toBe(0)
    try {
      expect(await codeOf(home, 'snapshot', 'large')).toBe('disk_full')
      expect(readdirSync(storeOf(home))).toEqual([])
      expect(await shellInside(info, 'echo here')).toBe('here\n')
    } finally {
      Bun.spawnSync(['umount', storeOf(home)])
    }
  },
  patience,
)

test.skipIf(!canMount || !existsSync('/dev/loop-control'))(
  'the files on a disk of a size are saved and put back too, mounted or not',
  async () => {
    await using home = homeOf('root')
    const info = await home.start('--name', 'disk', '--disk-gb', '0.1')
    await shellInside(info, 'echo one >note')
    const running = await home.ask('snapshot', 'disk')
    await shellInside(info, 'echo two >note')
    await home.ask('stop', 'disk')
    const stopped = await home.ask('snapshot', 'disk')
    const back = (await home.ask('restore', 'disk', String(running.id))) as Info
    expect(await shellInside(back, 'cat note; df --output=size -m . | tail -1')).toMatch(/^one\n +\d\d\n$/)
    const forward = (await home.ask('restore', 'disk', String(stopped.id))) as Info
    expect(await shellInside(forward, 'cat note; echo more >>note')).toBe('two\n')
    const folders = readdirSync(join(home.sandboxes, 'disk'))
    expect(folders.filter((name) => /new|old/.test(name))).toEqual([])
  },
  patience,
)
