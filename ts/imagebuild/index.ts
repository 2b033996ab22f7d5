export { type BuildOptions, type BuildProgress, type BuiltImage, buildImage } from './build.ts'
export type { DesktopRoot } from './recipe.ts'
export { recipes } from './recipes/index.ts'
