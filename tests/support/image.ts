/** The image that tests start VMs from: built once for each state of the recipe, kept beside what cargo builds. */
import { join } from 'node:path'
import { imageFolder, type LocalImage } from '@backlot/contract/vmhost/image'
import { runBacklot } from './backlot.ts'

/** Folder that holds the images of the tests: a cache directory for VM hosts. */
export const testImages = join(import.meta.dir, '../../target/images')

/** The folder of `linux-minimal`, and what its `image.json` holds; building it takes half a minute. */
export const linuxMinimal = async (): Promise<{ folder: string; image: LocalImage }> => {
  const built = await runBacklot(['image', 'build', 'linux-minimal', '--output', testImages])
  if (built.status !== 0) throw new Error(`linux-minimal cannot be built: ${built.stderr}`)
  const folder = join(testImages, imageFolder('linux-minimal', 'latest'))
  return { folder, image: (await Bun.file(join(folder, 'image.json')).json()) as LocalImage }
}
