/** What images can be built here, by name. */
import type { Recipe } from '../recipe.ts'
import { linuxDesktop } from './linux-desktop.ts'
import { linuxMinimal } from './linux-minimal.ts'

export const recipes: Readonly<Record<string, Recipe>> = {
  [linuxMinimal.name]: linuxMinimal,
  [linuxDesktop.name]: linuxDesktop,
}
