/** What a sandbox is given of its host: folders, memory, processors, a disk, a network; what cannot be limited is told. */
import { describe, expect, test } from 'bun:test'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { callers, homeOf, type Info, shellInside } from '../support/local.ts'
import { scratchFolder } from '../support/scratch.ts'

const patience = 60_000

/** Whether control groups of the first version can be made here, which root may where they are not read-only. */
const hasGroups = (() => {
  try {
    accessSync('/sys/fs/cgroup/memory/cgroup.procs', constants.W_OK)
    accessSync('/sys/fs/cgroup/cpu/cgroup.procs', constants.W_OK)
    return process.getuid?.() === 0
  } catch {
    return false
  }
})()

const groupsOf = (name: string): string[] =>
  ['memory', 'cpu', 'pids'].flatMap((controller) =>
    readdirSync(join('/sys/fs/cgroup', controller))
      .filter((each) => each.startsWith(`backlot-${name}-`))
      .map((each) => join('/sys/fs/cgroup', controller, each)),
  )

describe.each(callers)('a sandbox of %s', (caller) => {
  test(
    'sees folders of the host, and writes to those that it may write to',
    async () => {
      await using home = homeOf(caller)
      const [kept, given] = [scratchFolder('kept'), scratchFolder('given: with a "name"')]
      for (const folder of [kept, given]) chmodSync(folder, 0o777)
      writeFileSync(join(kept, 'file'), 'of the host\n')
      const mount = JSON.stringify({ host_path: given, path: '/home/user/given' })
      const info = await home.start('--mount', `${kept}:/mnt/kept:ro`, '--mount', mount)
      expect(await shellInside(info, 'cat /mnt/kept/file; echo of the sandbox >given/file')).toBe('of the host\n')
      expect(readFileSync(join(given, 'file'), 'utf8')).toBe('of the sandbox\n')
      expect(await shellInside(info, 'touch /mnt/kept/other')).toContain('Read-only file system')
      expect(info.mounts).toEqual([
        { host_path: kept, path: '/mnt/kept', read_only: true },
        { host_path: given, path: '/home/user/given', read_only: false },
      ])
    },
    patience,
  )

  test(
    'is not started again over a link that one of its programs has put where a folder of the host is to be',
    async () => {
      await using home = homeOf(caller)
      const folder = scratchFolder('mounted')
      chmodSync(folder, 0o755)
      const info = await home.start('--name', 'linked', '--mount', `${folder}:/home/user/a/b:ro`)
      expect(await shellInside(info, 'mkdir -p /home/user/elsewhere; ls a')).toBe('b\n')
      await home.ask('stop', 'linked')
      const files = join(home.sandboxes, 'linked/files/home')
      expect(Bun.spawnSync(['sh', '-c', `rmdir ${files}/a/b && ln -s / ${files}/a/b`]).exitCode).toBe(0)
      const { output } = await home.run('resume', 'linked')
      expect(output).toMatchObject({ error: { code: 'invalid_argument' } })
    },
    patience,
  )
})

test(
  'an ordinary user is told what is not limited',
  async () => {
    await using home = homeOf('user')
    const info = await home.start('--cpu', '1', '--memory-mb', '512', '--disk-gb', '1')
    const { warnings } = info as Info & { warnings: string[] }
    expect(warnings).toEqual([
      expect.stringContaining('The disk is not limited'),
      expect.stringContaining('Memory is not limited'),
      expect.stringContaining('Processors are not limited'),
    ])
    expect((await home.ask('info', info.name)).warnings).toEqual(warnings)
  },
  patience,
)

test.skipIf(!hasGroups)(
  'memory and processors of a sandbox of root are limited by the kernel, whose groups go with it',
  async () => {
    await using home = homeOf('root')
    const info = await home.start('--name', 'small', '--cpu', '0.5', '--memory-mb', '512')
    expect(info.warnings).toEqual([])
    const groups = groupsOf('small')
    expect(groups.map((group) => group.split('/')[4])).toEqual(['memory', 'cpu', 'pids'])
    const [memory = '', cpu = '', pids = ''] = groups
    expect(readFileSync(join(memory, 'memory.limit_in_bytes'), 'utf8')).toBe(`${512 * 2 ** 20}\n`)
    expect(readFileSync(join(cpu, 'cpu.cfs_quota_us'), 'utf8')).toBe('50000\n')
    const { init } = JSON.parse(readFileSync(join(home.sandboxes, 'small/run.json'), 'utf8')) as {
      init: { pid: number }
    }
    for (const group of [memory, cpu, pids]) {
      expect(readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n')).toContain(String(init.pid))
    }
    const said = await shellInside(info, "python3 -c 'b = bytearray(700 * 2 ** 20); print(len(b))'; echo status $?")
    expect(said).toContain('status 137')
    expect(await shellInside(info, 'echo still here')).toBe('still here\n')
    await home.ask('delete', 'small')
    expect(groupsOf('small')).toEqual([])
  },
  patience,
)

test.skipIf(process.getuid?.() !== 0 || !existsSync('/dev/loop-control'))(
  'a full disk of a sandbox of root is its own, and what it holds stays until it is deleted',
  async () => {
    await using home = homeOf('root')
    const info = await home.start('--name', 'full', '--disk-gb', '0.1')
    const said = await shellInside(
      info,
      'echo kept >note; head -c 200000000 /dev/zero >big; df --output=target . | tail -1',
    )
    expect(said).toContain('No space left on device')
    const image = join(home.sandboxes, 'full/disk.img')
    expect(statSync(image).size).toBe(Math.round(0.1 * 2 ** 30))
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain('files ext4')
    await home.ask('stop', 'full')
    const again = (await home.ask('resume', 'full')) as Info
    expect(await shellInside(again, 'cat note; rm big; cp /usr/bin/true there && ./there && echo room')).toBe(
      'kept\nroom\n',
    )
    expect(await home.ask('stop', 'full')).toMatchObject({ status: 'stopped' })
    expect(Bun.spawnSync(['losetup', '-j', image]).stdout.toString()).toBe('')
    const mounted = scratchFolder('below')
    const hidden = await home.run('start', '--network', 'loopback', '--mount', `${mounted}:/mnt/x:ro`)
    expect(hidden.output).toMatchObject({ error: { code: 'unsupported' } })
    chmodSync(mounted, 0o755)
    const refused = await home.run(
      'start',
      '--network',
      'loopback',
      '--disk-gb',
      '0.1',
      '--mount',
      `${mounted}:/opt/x:ro`,
    )
    expect(refused.output).toMatchObject({ error: { code: 'invalid_argument' } })
  },
  patience,
)
