/** Pictures of shell calls: a picture becomes a file, whose path stands in the result. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { placesOf } from '@backlot/contract/places'
import type { ToolResult } from '../../tool/result.ts'

/** Pictures of shell calls that are kept in the cache folder. */
const shellPictures = 100

/**
 * Writes the picture of a result to `file`, or to a file of the cache folder, of which the newest stay. Gives the path,
 * or nothing for a result without a picture. Throws `screenshot_not_written`.
 */
export const savePicture = (result: ToolResult, file: string | undefined): string | undefined => {
  const image = result.content.find((item) => item.type === 'image')
  if (image === undefined) return undefined
  const path = file === undefined ? cachePath(image.mimeType) : resolve(file)
  try {
    writeFileSync(path, Buffer.from(image.data, 'base64'), { mode: 0o600 })
  } catch (error) {
    throw new Failure(
      'screenshot_not_written',
      `The picture cannot be written to "${path}": ${Failure.from(error).message}. Name another file with \`--screenshot-out-file\`.`,
      { path },
    )
  }
  return path
}

const cachePath = (mimeType: string): string => {
  const folder = `${placesOf(process.env).cache}/pictures`
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const isOurs = (name: string) => /^\d{8}T\d{9}Z-\d+\.(?:png|jpeg)$/.test(name)
  const kept = readdirSync(folder).filter(isOurs).sort()
  for (const name of kept.slice(0, Math.max(0, kept.length - shellPictures + 1))) {
    rmSync(`${folder}/${name}`, { force: true })
  }
  const time = new Date().toISOString().replace(/[-:.]/g, '')
  return `${folder}/${time}-${process.pid}.${mimeType.replace('image/', '')}`
}
