/** The names under which layers of images are kept. */
import { Failure } from '@backlot/contract/failure'
import { idsHere, layersName, rootFor, sandboxesFolder } from '@backlot/local'

/** The name under which layers with that hash are kept here; null where new sandboxes have no own root. */
export const nameOfLayers = (hash: string, root = rootFor(sandboxesFolder())): string | null => {
  if (!/^[0-9a-f]{64}$/.test(hash)) {
    throw new Failure('invalid_argument', `"${hash}" is no hash of layers: it has 64 hexadecimal digits.`, {
      argument: 'layers',
    })
  }
  return root === null ? null : layersName(root, idsHere().uid, hash)
}
