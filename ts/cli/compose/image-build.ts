/** Builds images; the root of those with a desktop is the one that sandboxes have. */
import { type BuildOptions, type BuiltImage, buildImage, type DesktopRoot } from '@backlot/imagebuild'
import { asOwner, buildRoot, recipeOf, sandboxesFolder, withAllIds } from '@backlot/local'

/** Builds the image of that name; throws what that throws, and for one with a desktop what building its root throws. */
export const buildImageHere = (name: string, options: Omit<BuildOptions, 'desktopRoot'>): Promise<BuiltImage> =>
  buildImage(name, { ...options, desktopRoot: desktopRoot() })

const desktopRoot = (): DesktopRoot => {
  const recipe = recipeOf()
  return {
    version: recipe.version,
    async build(onStep, signal) {
      const onLine = (step: string) => onStep(step.replace(/^I: /, ''))
      const { folder } = await buildRoot({ base: sandboxesFolder(), recipe, onStep: onLine, signal })
      return { folder, asOwner: [...withAllIds(), ...asOwner()] }
    },
  }
}
