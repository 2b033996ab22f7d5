/** Five callers in three services that fetch one address of a server that does what no server should. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  type FaultyServer,
  faultless,
  framings,
  type Habits,
  serveFaultily,
  validators,
} from '../support/faulty-server.ts'
import { FetchingServices } from '../support/fetched-disks.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(900_000))

const addresses = rounds(36)

/** How many addresses are fetched at once. */
const together = 6

/** The services of the callers. */
const callers = [0, 0, 1, 1, 2]

const faults = { cut: 0.5, stall: 0.04, change: 0.3, strange: 0.25 }

/** Each kind of server in turn. */
const habitsOf = (number: number): Habits => ({
  validator: validators[number % validators.length] ?? 'none',
  framing: framings[Math.floor(number / validators.length) % framings.length] ?? 'length',
  ranges: (['minded', 'unminded', 'none'] as const)[number % 7 < 3 ? number % 7 : number % 2] ?? 'none',
  longest: number % 3 === 0 ? 300_000 : Number.POSITIVE_INFINITY,
})

const randomPause = (mostMs: number) => Bun.sleep(Math.random() * mostMs)

/** What is wrong with what the callers of one address are told while the server does what it should not. */
const fetchedInTrouble = async (services: FetchingServices, server: FaultyServer): Promise<string[]> => {
  server.faults = faults
  const all = await Promise.all(
    callers.map(async (at) => {
      await randomPause(1_500)
      return services.fetch(at, server.url)
    }),
  )
  const wrong = await Promise.all(all.map((fetched) => services.wrongWith(fetched, server.versions)))
  return wrong.filter((text) => text !== undefined)
}

/** What is wrong with the last content, fetched by each service when the server does as it should again. */
const fetchedAfterwards = async (services: FetchingServices, server: FaultyServer, habits: Habits) => {
  server.faults = faultless
  server.change()
  const wrong: string[] = []
  for (const at of services.hosts.keys()) {
    const fetched = await services.fetch(at, server.url)
    // An answer that says nowhere how long it is may have been cut.
    const expected = habits.framing === 'closed' ? 'download_failed' : undefined
    if (fetched.code !== expected) wrong.push(`"${fetched.name}" ended with ${fetched.code} when nothing was wrong`)
    const text = await services.wrongWith(fetched, server.versions.slice(-1))
    if (text !== undefined) wrong.push(text)
  }
  return wrong
}

test(`five callers in three services have whole disks, or are told why not, of ${addresses} addresses`, async () => {
  await using services = new FetchingServices()
  await services.start(3)
  const wrong: unknown[] = []
  for (let first = 0; first < addresses; first += together) {
    const numbers = Array.from({ length: Math.min(together, addresses - first) }, (_, at) => first + at)
    const servers = await Promise.all(numbers.map((number) => serveFaultily(habitsOf(number))))
    const work = servers.map((server) => fetchedInTrouble(services, server))
    const round = first / together
    if (round % 2 === 1) {
      await randomPause(2_500)
      await services.kill(round % 3)
    }
    const inTrouble = await Promise.all(work)
    const afterwards = await Promise.all(
      servers.map((server, at) => fetchedAfterwards(services, server, habitsOf(first + at))),
    )
    for (const [at, number] of numbers.entries()) {
      const texts = [...(inTrouble[at] ?? []), ...(afterwards[at] ?? [])]
      if (texts.length > 0) wrong.push({ number, habits: habitsOf(number), texts })
    }
    for (const server of servers) server[Symbol.dispose]()
    await services.clear()
  }
  expect(wrong).toEqual([])
})
