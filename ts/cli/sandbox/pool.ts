/** `backlot sandbox pool`: started sandboxes that wait, of a runtime of this machine. */
import { Failure } from '@backlot/contract/failure'
import { Image, type LookupOptions, WarmPool, type WarmPoolInfo } from '@backlot/sdk'
import { print, printJson } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'

/** The name of a pool where nobody gives one. */
const usualName = 'default'

/** Shows the pools, or with a size makes one, changes it, or ends it. */
export const showPools = async (
  name: string,
  sizeText: string | undefined,
  where: LookupOptions,
  json: boolean,
): Promise<void> => {
  if (sizeText !== undefined) {
    if (!/^\d{1,3}$/.test(sizeText)) {
      throw new Failure('invalid_argument', `--size is "${sizeText}"; it takes a whole number, 0 to end the pool.`, {
        argument: 'size',
      })
    }
    // A cloud has none, so that without a word those of this machine are meant.
    const pool = await WarmPool.apply(Image.desktop(), {
      ...(where.runtime === undefined ? { runtime: 'local' } : { runtime: where.runtime }),
      name: name || usualName,
      size: Number(sizeText),
    })
    if (Number(sizeText) > 0) return show([await pool.getInfo()], json)
    return show([], json)
  }
  const pools = await WarmPool.list({ ...where, ...(where.runtime === undefined && { local: true }) } as LookupOptions)
  const infos = await Promise.all(pools.map((pool) => pool.getInfo()))
  await show(
    infos.filter((info) => name === '' || info.name === name),
    json,
  )
}

const show = async (infos: readonly WarmPoolInfo[], json: boolean): Promise<void> => {
  if (json) await printJson(infos)
  else if (infos.length > 0) await print(table(infos.map((info) => ({ ...info }))))
}
