/** `backlot image` and `backlot lume` with images of a real registry, without and with a service. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { runBacklot } from '../support/backlot.ts'
import { linuxMinimal } from '../support/image.ts'
import { Scratch } from '../support/qemu.ts'
import { makeCertificate, type Registry, startRegistry } from '../support/registry.ts'
import { startVmHost } from '../support/vmhost.ts'
import { call, create, giveImage, names } from '../support/vms.ts'

const scratch = new Scratch()
let registry: Registry
const home = scratch.at('home')
const images = join(home, 'cache/images')

beforeAll(async () => {
  registry = await startRegistry()
  const { folder } = await linuxMinimal()
  mkdirSync(images, { recursive: true })
  symlinkSync(folder, join(images, basename(folder)))
})

afterAll(async () => {
  await registry[Symbol.asyncDispose]()
  scratch[Symbol.dispose]()
})

const image = (...words: string[]) => runBacklot(['image', ...words], { BACKLOT_HOME: home })

/** What a command prints as JSON. */
const json = async (...words: string[]) => {
  const { status, stdout, stderr } = await image(...words)
  expect([status, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

test('an image that was built is pushed, pulled, shown, listed and removed without a service', async () => {
  const name = `${registry.address}/tests/minimal:v1`
  const pushed = await json('push', 'linux-minimal', name, '--chunk-size-mb', '64')
  expect(pushed).toEqual({ image: name, digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) })
  const pulled = await json('pull', name)
  expect(pulled).toMatchObject({ image: name, digest: pushed.digest })
  const built = join(images, 'linux-minimal_latest')
  for (const file of ['disk.raw', 'kernel', 'initrd']) {
    expect([file, Bun.spawnSync(['cmp', join(built, file), join(pulled.folder, file)]).exitCode]).toEqual([file, 0])
  }
  const { about } = await json('inspect', name)
  const { about: first } = await json('inspect', 'linux-minimal')
  expect([about.append, about.ports, about.defaults.cpu]).toEqual([first.append, first.ports, first.defaults.cpu])
  expect((await json('ls')).map((each: { repository: string }) => each.repository)).toEqual([
    'linux-minimal',
    'tests/minimal',
  ])
  await json('rm', name)
  expect([existsSync(pulled.folder), (await json('ls')).length]).toEqual([false, 1])
  // The layers are here still: what is pulled now comes from them.
  await registry[Symbol.asyncDispose]()
  expect((await image('pull', name)).stderr).toContain('cannot be used')
  expect((await json('prune')).freedBytes).toBeGreaterThan(2 ** 20)
  registry = await startRegistry()
})

test('what is called wrongly is refused with the way out', async () => {
  expect((await image('pull')).status).toBe(64)
  expect((await image('inspect', 'none')).stderr).toContain('backlot image ls')
  expect((await image('push', 'linux-minimal', '--chunk-size-mb', '0')).stderr).toContain('"chunkSizeMb" cannot be 0')
  expect((await image('push', 'linux-minimal', '--compression', 'xz')).stderr).toContain('zstd or gzip')
})

test('over https a registry has to be certified, by an authority of its own too, and is told the password', async () => {
  const certified = makeCertificate(scratch.folder)
  await using guarded = await startRegistry(
    `agent:${await Bun.password.hash('secret', { algorithm: 'bcrypt', cost: 4 })}\n`,
    certified,
  )
  const name = `${guarded.address}/tests/minimal:v1`
  expect((await image('pull', name)).stderr).toContain('NODE_EXTRA_CA_CERTS')
  const trusting = { NODE_EXTRA_CA_CERTS: certified.certificate, BACKLOT_HOME: home }
  const withTrust = async (...words: string[]) => runBacklot(['image', ...words], trusting)
  expect((await withTrust('pull', name)).stderr).toContain('docker login')
  const auths = { [guarded.address]: { auth: Buffer.from('agent:secret').toString('base64') } }
  await Bun.write(scratch.at('docker/config.json'), JSON.stringify({ auths }))
  Object.assign(trusting, { DOCKER_CONFIG: scratch.at('docker') })
  const [pushed, pulled] = [await withTrust('push', 'linux-minimal', name), await withTrust('pull', name)]
  expect([pushed.stderr, pulled.stderr]).toEqual(['', ''])
  expect(JSON.parse(pulled.stdout).digest).toBe(JSON.parse(pushed.stdout).digest)
  // What docker keeps for the registry is as good, and says who this machine is where that is asked.
  const config = { XDG_CONFIG_HOME: scratch.at('config'), DOCKER_CONFIG: scratch.at('docker'), BACKLOT_HOME: home }
  const kept = (address: string, file: string) => scratch.at(`config/docker/certs.d/${address}/${file}`)
  await Bun.write(kept(guarded.address, 'ca.crt'), Bun.file(certified.certificate))
  expect((await runBacklot(['image', 'pull', name], config)).stderr).toBe('')
  await using strict = await startRegistry(undefined, { ...certified, isAskedFor: true })
  const files = { 'ca.crt': certified.certificate, 'client.cert': certified.certificate, 'client.key': certified.key }
  for (const [file, path] of Object.entries(files)) await Bun.write(kept(strict.address, file), Bun.file(path))
  const asked = async () => (await runBacklot(['image', 'pull', `${strict.address}/tests/minimal:v1`], config)).stderr
  expect(await asked()).toContain('There is no image')
  rmSync(kept(strict.address, 'client.key'))
  expect(await asked()).toContain('What docker keeps')
})

test('the words of lume pull, push, list and prune, and `backlot vm pull` waits', async () => {
  await using host = await startVmHost()
  await giveImage(host)
  await create(host, 'source', { image: 'linux-minimal:latest', diskSize: '512MB' })
  const service = { BACKLOT_HOST_URL: host.url, BACKLOT_HOME: host.home }
  const done = async (...words: string[]) => {
    const { status, stderr } = await runBacklot(words, service)
    expect([words.join(' '), status, stderr]).toEqual([words.join(' '), 0, ''])
  }
  const where = ['--registry', registry.address, '--organization', 'tests']
  await done('lume', 'push', 'source', 'words:one', '--additional-tags', 'two', ...where)
  await done('lume', 'pull', 'words:one', 'mine', ...where)
  await done('vm', 'pull', 'words:two', ...where)
  expect((await names(host)).toSorted()).toEqual(['mine', 'source', 'words_two'])
  expect((await runBacklot(['lume', 'images'], service)).stdout).toContain('tests/words')
  await done('lume', 'prune')
  expect<unknown>((await call(host, 'GET', '/svc/images?organization=tests'))[1]).toEqual([])
})
