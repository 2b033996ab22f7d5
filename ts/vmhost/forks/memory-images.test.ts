import { afterAll, beforeAll, expect, test } from 'bun:test'
import { link, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vmPath } from '../vms/vm-directory.ts'
import { MemoryImages } from './memory-images.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlot-images-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** A VM in a folder of its own; with the memory of another under a second name where one is given. */
const vm = async (name: string, of?: { path: string }) => {
  const path = join(folder, name)
  await mkdir(path)
  if (of === undefined) await writeFile(vmPath(path, 'memory'), name)
  else await link(vmPath(of.path, 'memory'), vmPath(path, 'memory'))
  return { path, name } as never as Parameters<MemoryImages['of']>[0]
}

/** Images without a memory, of which it is known how many were made and are open. */
const fakeMaker = () => {
  const counts = { made: 0, open: 0 }
  const maker = {
    async share() {
      counts.made += 1
      counts.open += 1
      const close = () => {
        counts.open -= 1
      }
      return { pages: counts.made, devices: 0, [Symbol.dispose]: close }
    },
  }
  return { counts, images: new MemoryImages(maker) }
}

const nothing = [{} as never] as const

test('who goes on from one memory shares one image, which is kept until it is dropped', async () => {
  const { counts, images } = fakeMaker()
  const parent = await vm('parent')
  const child = await vm('child', parent)
  const other = await vm('other')
  expect(await images.find(parent)).toBeUndefined()
  const [first, second] = await Promise.all([images.of(parent, ...nothing), images.of(child, ...nothing)])
  expect([first.pages, second.pages, counts]).toEqual([1, 1, { made: 1, open: 1 }])
  expect([await images.has(child), await images.has(other), await images.find(other)]).toEqual([true, false, undefined])
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  images.drop()
  expect(await images.has(parent)).toBe(true)
  second[Symbol.dispose]()
  using third = await images.find(child)
  expect([third?.pages, counts]).toEqual([1, { made: 1, open: 1 }])
  third?.[Symbol.dispose]()
  images.drop()
  await Promise.resolve()
  expect([await images.has(parent), counts]).toEqual([false, { made: 1, open: 0 }])
})

test('of those that nobody uses the newest few are kept, and one that cannot be made is none', async () => {
  const { counts, images } = fakeMaker()
  const vms = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => vm(name)))
  for (const each of vms) (await images.of(each, ...nothing))[Symbol.dispose]()
  await Promise.resolve()
  expect(counts).toEqual({ made: 6, open: 4 })
  expect(await Promise.all(vms.map((each) => images.has(each)))).toEqual([false, false, true, true, true, true])
  const broken = new MemoryImages({ share: () => Promise.reject(new Error('no memory')) })
  const [one] = vms
  if (one === undefined) throw new Error('there are VMs')
  await expect(broken.of(one, ...nothing)).rejects.toThrow('no memory')
  await Promise.resolve()
  expect(await broken.has(one)).toBe(false)
  images.drop()
})

test('who waits for an image that another fails to make makes it himself', async () => {
  const calls: PromiseWithResolvers<never>[] = []
  const share = () => {
    const call = Promise.withResolvers<never>()
    calls.push(call)
    return call.promise
  }
  const images = new MemoryImages({ share })
  const parent = await vm('failing')
  const child = await vm('waiting', parent)
  const first = images.of(parent, ...nothing)
  first.catch(() => undefined)
  // Of two that come at once either may be the one who makes it.
  while (calls.length === 0) await Bun.sleep(1)
  const second = images.of(child, ...nothing)
  // By then the second has looked as well, and waits.
  for (let look = 0; look < 20; look++) await images.has(child)
  calls[0]?.reject(new Error('no memory'))
  await expect(first).rejects.toThrow('no memory')
  while (calls.length === 1) await Promise.race([second, Bun.sleep(1)])
  calls[1]?.resolve({ pages: 7, devices: 0, [Symbol.dispose]: () => undefined } as never)
  using image = await second
  expect([image.pages, calls.length]).toEqual([7, 2])
})
