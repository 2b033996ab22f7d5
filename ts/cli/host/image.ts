/** The image that a new VM begins with: none, or one that is built first where it is missing. */
import { Failure } from '@backlot/contract/failure'
import { recipes } from '@backlot/imagebuild'
import { buildImageHere } from '../compose/image-build.ts'
import type { Progress } from '../terminal/progress.ts'
import type { Service } from './service.ts'

/** Changes the input of a creation: `none` and an ISO mean an empty disk; an image with a recipe is made to stand. */
export const prepareImage = async (
  input: Record<string, unknown>,
  { service, progress, signal }: { service: Service; progress: Progress; signal: AbortSignal },
): Promise<void> => {
  if (input.image === 'none' || input.iso !== undefined) {
    delete input.image
    return
  }
  const [name, tag = 'latest'] = String(input.image).split(':')
  const recipe = recipes[name ?? '']
  if (recipe === undefined || recipe.tag !== tag || !service.isLocal) return
  const { cacheDirectory } = await service.client.getConfig()
  try {
    await buildImageHere(recipe.name, {
      cacheDirectory,
      signal,
      onProgress: ({ step, percent }) => progress.show(`${recipe.name}: ${step}`, percent),
    })
  } catch (error) {
    const failure = Failure.from(error)
    // One of an older recipe that stands will do where a new one cannot be had.
    if (
      failure.code === 'cancelled' ||
      !(await Bun.file(`${cacheDirectory}/${recipe.name}_${tag}/image.json`).exists())
    ) {
      throw failure
    }
  }
}
