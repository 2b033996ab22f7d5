import { expect, test } from 'bun:test'
import { settleAll } from '@backlot/contract/work/settle-all'
import { atMost } from './side-by-side.ts'

test('so many go on at a time, in order, and one that fails makes room', async () => {
  const limited = atMost(2)
  let [going, most] = [0, 0]
  const begun: number[] = []
  const work = (number: number) => async () => {
    begun.push(number)
    most = Math.max(most, ++going)
    await Bun.sleep(0)
    going -= 1
    if (number % 2 === 0) throw new Error(`no room for ${number}`)
  }
  const all = [1, 2, 3, 4, 5].map((number) => limited(work(number)))
  await expect(settleAll(all)).rejects.toThrow('no room for 2')
  await Promise.all([7, 9].map((number) => limited(work(number))))
  expect({ most, going, begun }).toEqual({ most: 2, going: 0, begun: [1, 2, 3, 4, 5, 7, 9] })
})
