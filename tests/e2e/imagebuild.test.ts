import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { LocalImage } from '@backlot/contract/vmhost/image'
import { Value } from '@sinclair/typebox/value'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { runProgram, startGuest } from '../support/guest.ts'
import { linuxMinimal, testImages } from '../support/image.ts'
import { until as untilSoon } from '../support/until.ts'

/** A guest under emulation on a busy machine takes its time. */
const until: typeof untilSoon = (what, look) => untilSoon(what, look, 120_000)

let built: Awaited<ReturnType<typeof linuxMinimal>>
let folder: string

beforeAll(async () => {
  built = await linuxMinimal()
  folder = await mkdtemp(join(tmpdir(), 'backlot-imagebuild-'))
})

/** Where the packages stay between runs. */
const packages = join(testImages, '.apt', 'packages')

afterAll(() => rm(folder, { recursive: true, force: true }))

/** A cache directory of its own that has the packages already. */
const cacheWithPackages = async (name: string): Promise<string> => {
  const cache = join(folder, name)
  await mkdir(cache)
  // An image that is kept may have lost the packages that it was made of.
  await mkdir(packages, { recursive: true })
  await symlink(dirname(packages), join(cache, '.apt'))
  return cache
}

describe('image build', () => {
  test('gives a folder with image.json and the files that it names, and nothing half-made', async () => {
    expect(Value.Errors(LocalImage, built.image).First()).toBeUndefined()
    expect((await readdir(built.folder)).sort()).toEqual(['disk.raw', 'image.json', 'initrd', 'kernel', 'packages.txt'])
    expect((await readdir(testImages)).filter((name) => name.startsWith('.building'))).toEqual([])
    await runProgram('/sbin/e2fsck', '-fn', join(built.folder, 'disk.raw'))
  })

  test('leaves an image of the same recipe as it is, and lists it', async () => {
    const files = async () =>
      Promise.all(
        [built.folder, ...(await readdir(built.folder)).sort().map((name) => join(built.folder, name))].map(
          async (path) => {
            const { ino, size, mtimeMs, ctimeMs } = await stat(path)
            return { path, ino, size, mtimeMs, ctimeMs }
          },
        ),
      )
    const before = await files()
    const again = await runBacklot(['image', 'build', 'linux-minimal', '--output', testImages])
    expect(JSON.parse(again.stdout)).toEqual({
      name: 'linux-minimal',
      tag: 'latest',
      folder: built.folder,
      wasThere: true,
    })
    expect(await files()).toEqual(before)
    const [listed] = JSON.parse((await runBacklot(['image', 'ls', '--output', testImages])).stdout)
    expect(listed).toMatchObject({ name: 'linux-minimal', tag: 'latest', os: 'linux', folder: built.folder })
  })

  test('needs no root, builds beside what a killed build left behind, and gives everything on the disk to root', async () => {
    const cache = await mkdtemp(join(tmpdir(), 'backlot-ordinary-'))
    try {
      await mkdir(packages, { recursive: true })
      await runProgram('cp', '--recursive', '--reflink=auto', packages, cache)
      await mkdir(join(cache, '.apt'))
      await rename(join(cache, 'packages'), join(cache, '.apt', 'packages'))
      const nobody = '65534'
      const isRoot = process.getuid?.() === 0
      if (isRoot) await runProgram('chown', '--recursive', `${nobody}:${nobody}`, cache)
      const as = isRoot ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : []
      const begin = () =>
        Bun.spawn([...as, ...backlotCommand('image', 'build', 'linux-minimal', '--output', cache)], {
          cwd: '/',
          env: { ...process.env, HOME: cache, BACKLOT_HOME: join(cache, 'home') },
          stdout: 'pipe',
          stderr: 'pipe',
        })
      const halfMade = async () => (await readdir(cache)).filter((name) => name.startsWith('.building'))
      const killed = begin()
      await until('the build to begin', async () => (await halfMade()).length > 0)
      killed.kill('SIGKILL')
      await killed.exited
      expect((await halfMade()).length).toBe(1)
      const child = begin()
      expect([await child.stderr.text(), await child.exited]).toEqual(['', 0])
      expect(await halfMade()).toEqual([])
      const image = join(cache, 'linux-minimal_latest')
      expect((await readdir(image)).sort()).toEqual(['disk.raw', 'image.json', 'initrd', 'kernel', 'packages.txt'])
      const disk = join(image, 'disk.raw')
      expect(String((await stat(disk)).uid)).toBe(isRoot ? nobody : String(process.getuid?.()))
      await runProgram('/sbin/e2fsck', '-fn', disk)
      const listing = await runProgram('/sbin/debugfs', '-R', 'ls -l /usr/sbin', disk)
      const owners = [...listing.matchAll(/^\s*\d+\s+\d+ \(\d+\)\s+(\d+)\s+(\d+)/gm)].flatMap((match) => match.slice(1))
      expect(owners.length).toBeGreaterThan(20)
      expect(new Set(owners)).toEqual(new Set(['0']))
    } finally {
      await rm(cache, { recursive: true })
    }
  })

  test('ends when it is interrupted, and keeps nothing', async () => {
    const cache = await cacheWithPackages('interrupted')
    const child = Bun.spawn(backlotCommand('image', 'build', 'linux-minimal', '--output', cache), { stderr: 'pipe' })
    const work = await until('the build to begin', async () =>
      (await readdir(cache)).find((name) => name.startsWith('.building')),
    )
    // Other users do not reach the disk, which they might write to.
    expect((await stat(join(cache, work))).mode & 0o777).toBe(0o700)
    child.kill('SIGINT')
    expect(await child.stderr.text()).toContain('was cancelled')
    expect(await child.exited).toBe(1)
    expect(await readdir(cache)).toEqual(['.apt'])
  })

  test('refuses a name without a recipe, and names those that there are (unknown_image)', async () => {
    const call = await runBacklot(['image', 'build', 'nothing', '--output', folder])
    expect([call.status, call.stdout]).toEqual([1, ''])
    expect(call.stderr).toContain('There is no recipe "nothing". There is "linux-minimal", "linux-desktop".')
  })

  test('names the package of a program that is missing', async () => {
    const programs = join(folder, 'few-programs')
    await mkdir(programs)
    await symlink(String(Bun.which('dpkg-deb')), join(programs, 'dpkg-deb'))
    const call = await runBacklot(['image', 'build', 'linux-minimal', '--output', join(folder, 'missing')], {
      PATH: programs,
    })
    expect(call.status).toBe(1)
    expect(call.stderr).toContain('apt-get install apt')
  })

  test('says that no mirror can be reached (packages_unavailable)', async () => {
    const config = join(folder, 'apt.conf')
    await mkdir(join(folder, 'no-lists', 'partial'), { recursive: true })
    await writeFile(
      config,
      `Acquire::http::Proxy "http://127.0.0.1:1"; Acquire::https::Proxy "http://127.0.0.1:1"; Acquire::Retries "0"; Dir::State::lists "${folder}/no-lists";`,
    )
    const call = await runBacklot(['image', 'build', 'linux-minimal', '--output', join(folder, 'offline')], {
      APT_CONFIG: config,
    })
    expect(call.status).toBe(1)
    expect(call.stderr).toContain('cannot be fetched')
    expect(call.stderr).toContain('apt-get update')
    expect((await readdir(join(folder, 'offline'))).filter((name) => name !== '.apt')).toEqual([])
  })

  test('tells the last words of a program that fails (image_not_built)', async () => {
    const programs = join(folder, 'failing')
    await mkdir(programs)
    await writeFile(join(programs, 'dpkg-deb'), '#!/bin/sh\necho it broke >&2\nexit 7\n', { mode: 0o755 })
    const cache = await cacheWithPackages('broken')
    const call = await runBacklot(['image', 'build', 'linux-minimal', '--output', cache], {
      PATH: `${programs}:${process.env.PATH}`,
    })
    expect(call.status).toBe(1)
    expect(call.stderr).toContain('"dpkg-deb" failed (exit status 7): it broke')
    expect(await readdir(cache)).toEqual(['.apt'])
  })
})

describe('linux-minimal', () => {
  test('boots, answers, obeys its seed, be it configuration or a script, sees shared folders, grows, and powers off', async () => {
    const disk = join(folder, 'disk.qcow2')
    const shared = join(folder, 'shared')
    await mkdir(shared)
    await writeFile(join(shared, 'from-host'), 'hello guest')
    await runProgram('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key'))
    const seed = await makeSeed(
      'instance-id: first\nlocal-hostname: alpha\n',
      `#cloud-config
ssh_authorized_keys:
  - ${(await Bun.file(join(folder, 'key.pub')).text()).trim()}
runcmd:
  - echo ran > /var/ran
  - [ sh, -c, "echo 'a list' >> /var/ran" ]
packages: [ vim ]
`,
    )
    let identity = ''
    {
      await using guest = await startGuest({
        image: built,
        disk,
        seed,
        shares: { work: shared },
        uuid: '11111111-0000-4000-8000-000000000001',
      })
      const answer = await guest.answered()
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(await answer.json()).toEqual({ status: 'ok', os_type: 'linux', features: [], server: 'none' })
      expect((await fetch(`${guest.url}/other`)).status).toBe(404)
      // The first answer comes after the folders are mounted; the guest agent a moment later.
      expect(
        await until('the guest agent', () => guest.shell('cat /mnt/shared/work/from-host').catch(() => false)),
      ).toBe('hello guest')
      await guest.shell('echo -n "hello host" >/mnt/shared/work/from-guest')
      expect(await Bun.file(join(shared, 'from-guest')).text()).toBe('hello host')
      await until('the seed to be obeyed', async () =>
        (await guest.shell('ls /var/lib/backlot')).includes('first-boot-done'),
      )
      expect(await guest.shell('hostname; cat /var/ran')).toBe('alpha\nran\na list\n')
      expect(await guest.shell('cat /var/log/first-boot.log')).toContain('does not know the key "packages"')
      await until(
        'the file system to grow',
        async () => Number(await guest.shell("df -k / | awk 'END { print $2 }'")) > 900_000,
      )
      const keys = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR']
      const remote = ['-i', join(folder, 'key'), '-p', String(guest.sshPort), 'root@127.0.0.1', 'id -un; hostname']
      expect(await runProgram('ssh', ...keys, ...remote)).toBe('root\nalpha\n')
      identity = await guest.shell('cat /etc/machine-id; cksum /etc/dropbear/*')
      await guest.powerOff()
      expect(await guest.serial()).toContain('Power down')
    }
    await runProgram('qemu-img', 'check', '-q', disk)

    // The same disk wakes up as another instance: it is somebody else, and obeys its own seed, which is a script.
    await using other = await startGuest({
      image: built,
      disk,
      seed: await makeSeed('instance-id: second\n', '#!/bin/sh\necho script >>/var/ran\n'),
      uuid: '11111111-0000-4000-8000-000000000002',
    })
    await other.answered()
    const [name, machine, ...keys] = await until('the guest agent', () =>
      other
        .shell('hostname; cat /etc/machine-id; ls /etc/dropbear')
        .then((text) => text.trim().split('\n'))
        .catch(() => false as const),
    )
    expect([name, keys]).toEqual(['linux-minimal', []])
    await until('the script to have run', async () => (await other.shell('cat /var/ran')).endsWith('script\n'))
    expect(await other.shell('cat /var/ran')).toBe('ran\na list\nscript\n')
    expect(identity.split('\n')[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(machine).toMatch(/^[0-9a-f]{32}$/)
    expect(machine).not.toBe(identity.split('\n')[0])
  })
})

/** A disk as cloud-init's NoCloud wants it, made by mtools. */
const makeSeed = async (meta: string, user: string): Promise<string> => {
  const work = await mkdtemp(join(folder, 'seed-'))
  await writeFile(join(work, 'meta-data'), meta)
  await writeFile(join(work, 'user-data'), user)
  const disk = join(work, 'seed.img')
  await writeFile(disk, new Uint8Array(1_474_560))
  await runProgram('mformat', '-i', disk, '-v', 'CIDATA', '-f', '1440', '::')
  await runProgram('mcopy', '-i', disk, join(work, 'meta-data'), join(work, 'user-data'), '::')
  return disk
}
