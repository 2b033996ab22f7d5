import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Image, type ImageDict } from '@backlot/sdk'
import { layerHashes } from '../../ts/sdk/image/hash.ts'
import { hostileTexts } from '../support/hostile-texts.ts'
import { printedByNode, sdkFile } from '../support/node-program.ts'
import { proving } from '../support/proves.ts'
import { pythonClients } from '../support/python-packages.ts'
import { pythonWith } from '../support/python-with.ts'
import { scratchFolder } from '../support/scratch.ts'
import { describedImages } from '../support/sdk-images.ts'

const images = Object.entries(describedImages)
/** The fields that `tests/support/fixtures/sandbox_images.py` knows: it keeps no path of a disk, and no order of steps. */
const withoutOurs = ({ disk_path: _, steps: __, ...rest }: ImageDict) => rest

test(
  'the dictionaries of twenty images hold the fields that clients know, and lose nothing',
  proving(['sandbox.image.to-dict', 'sandbox.image.from-dict', 'sandbox.image.round-trip'], () => {
    expect(images).toHaveLength(20)
    for (const [what, [image, dict]] of images) {
      expect({ what, dict: image.toDict() }).toEqual({ what, dict })
      const again = Image.fromDict(JSON.parse(JSON.stringify(dict)) as ImageDict)
      expect({ what, dict: again.toDict() }).toEqual({ what, dict })
      expect([again.osType, again.distro, again.version, again.kind]).toEqual([
        ...[dict.os_type, dict.distro, dict.version],
        dict.kind,
      ])
    }
  }),
)

test(
  'an unmodified client reads what is written here, and what it writes is read here',
  proving(['sandbox.image.to-dict', 'sandbox.image.from-dict'], async () => {
    const ours = images.map(([, [image]]) => image.toDict())
    const python = await pythonWith(pythonClients.sandbox)
    const script = join(import.meta.dir, '../support/fixtures/sandbox_images.py')
    const child = Bun.spawn([python, script], {
      env: { ...process.env, CUA_TELEMETRY_ENABLED: 'false' },
      stdin: new Blob([JSON.stringify(ours)]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
    if ((await child.exited) !== 0) throw new Error(stderr)
    const { read, made } = JSON.parse(stdout) as { read: ImageDict[]; made: ImageDict[] }
    expect(read).toEqual(ours.map(withoutOurs))
    expect(made).toHaveLength(12)
    expect(made.map((each) => Image.fromDict(each).toDict())).toEqual(made)
  }),
)

test('an image knows whether its distribution was asked for', () => {
  const asked = [Image.desktop('ubuntu'), Image.linux('ubuntu'), Image.linux({ version: '24.04' })]
  const unasked = [Image.desktop(), Image.linux(), Image.linux({ kind: 'vm' }), Image.desktop().run('true').expose(80)]
  expect(asked.map((each) => each.isDistroAsked)).toEqual(asked.map(() => true))
  expect(unasked.map((each) => [each.isDistroAsked, each.distro])).toEqual(unasked.map(() => [false, 'ubuntu']))
  expect(Image.fromDict(Image.desktop().toDict()).isDistroAsked).toBe(true)
})

test('under Node an image, its user data and its hashes are the same', async () => {
  const folder = scratchFolder('node-image')
  writeFileSync(join(folder, 'file'), 'content'.repeat(100))
  const image = Image.linux().run('true').copy(folder, '/there').env(hostileTexts)
  const program = `import { Image } from ${sdkFile('index.ts')}
    import { layerHashes } from ${sdkFile('image/hash.ts')}
    const image = Image.fromDict(JSON.parse(process.argv[2]))
    const hashes = (await layerHashes(image)).map(({ hash }) => hash)
    console.log(JSON.stringify([image.toDict(), image.toCloudInit(), hashes]))`
  const hashes = (await layerHashes(image)).map(({ hash }) => hash)
  const [dict, userData, there] = JSON.parse(await printedByNode(program, [JSON.stringify(image.toDict())]))
  expect(dict).toEqual(image.toDict())
  expect(there).toEqual(hashes)
  // The two compress with other libraries.
  const plain = (text: string) => text.replace(/(?<=<<'END'\n)[A-Za-z0-9+/=\s]+?(?=\n *END)/g, '')
  expect(plain(userData)).toBe(plain(image.toCloudInit()))
})
