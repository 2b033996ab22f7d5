/** The image that tests start VMs from: built once for each state of the recipe, kept beside what cargo builds. */
import { join } from 'node:path'
import { imageFolder, type LocalImage } from '@backlot/contract/vmhost/image'
import { runBacklot } from './backlot.ts'

/** Folder that holds the images of the tests: a cache directory for VM hosts. */
export const testImages = join(import.meta.dir, '../../target/images')

/** Builds it anew where what builds it has changed since, which the recipe's own state does not tell. */
export const buildAnewWhereBuilderChanged = async (): Promise<void> => {
  const root = join(import.meta.dir, '../..')
  const sum = new Bun.CryptoHasher('sha256')
  const filesIn = (folder: string) =>
    [...new Bun.Glob('**/*').scanSync({ cwd: join(root, folder) })].map((file) => join(folder, file))
  const files = ['ts/imagebuild', 'images'].flatMap(filesIn).toSorted()
  if (files.length < 2) throw new Error('the builder of images is not where it is looked for')
  for (const file of files) {
    sum.update(`${file} `).update(await Bun.file(join(root, file)).arrayBuffer())
  }
  const [stamp, builder] = [Bun.file(join(testImages, 'builder')), sum.digest('hex')]
  if ((await stamp.exists()) && (await stamp.text()) === builder) return
  const built = await runBacklot(['image', 'build', 'linux-minimal', '--again', '--output', testImages])
  if (built.status !== 0) throw new Error(`linux-minimal cannot be built: ${built.stderr}`)
  await Bun.write(stamp, builder)
}

/** The folder of `linux-minimal`, and what its `image.json` holds; building it takes half a minute. */
export const linuxMinimal = async (): Promise<{ folder: string; image: LocalImage }> => {
  const built = await runBacklot(['image', 'build', 'linux-minimal', '--output', testImages])
  if (built.status !== 0) throw new Error(`linux-minimal cannot be built: ${built.stderr}`)
  const folder = join(testImages, imageFolder('linux-minimal', 'latest'))
  return { folder, image: (await Bun.file(join(folder, 'image.json')).json()) as LocalImage }
}
