/** What tests with VMs share and a run makes once, before tests whose changes to files are thrown away. */
import { linuxMinimal } from './image.ts'

/** Makes what is missing or out of date below `target`; a moment where nothing is. */
export const prepare = async (): Promise<void> => {
  await linuxMinimal()
}
