/** What guests run on here: found out once for a run of the tests, and given to the homes that they make. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { placesOf } from '@backlot/contract/places'

const folder = join(import.meta.dir, '../../target')
const known = join(folder, 'accelerator.json')

/** What it is, and why not KVM; found out where no answer is kept that still holds. */
export const accelerationHere = async () => {
  // Few tests ask, and all that start a host would load its modules before their first test.
  const { accelerationAt } = await import('@backlot/vmhost')
  return accelerationAt({ ...placesOf({ BACKLOT_HOME: folder }), cache: folder })
}

/** What it was found to be. */
export const acceleratorHere = async (): Promise<'kvm' | 'tcg'> => (await accelerationHere()).accelerator

/** Finds it out where no answer is kept that still holds. */
export const findAcceleration = async (): Promise<void> => {
  await accelerationHere()
}

/** Gives a home the answer that is kept; one that does not hold any more is found out afresh there. */
export const giveAcceleration = (home: string): void => {
  const place = join(home, 'cache/accelerator.json')
  if (existsSync(place) || !existsSync(known)) return
  mkdirSync(dirname(place), { recursive: true })
  copyFileSync(known, place)
}

/** Keeps what the service of a home has found out. */
export const keepAcceleration = (home: string): void => {
  const place = join(home, 'cache/accelerator.json')
  if (existsSync(place)) copyFileSync(place, known)
}
