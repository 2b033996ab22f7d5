/** Requests that schemathesis makes up by the documents of our servers, for minutes. */
import { expect, test } from 'bun:test'
import { canRunSchemathesis, runSchemathesis } from '../support/schemathesis.ts'

const minutes = 60_000

/** The servers, and how many requests show that it came beyond the first of each operation. */
const least = { vmhost: 400, computer: 200 } as const

test.skipIf(!canRunSchemathesis()).each(Object.keys(least) as (keyof typeof least)[])(
  'schemathesis finds no defect of the %s, and no answer that its document does not name',
  async (server) => {
    const { cases, defects } = await runSchemathesis(server)
    expect(defects).toEqual([])
    expect(cases).toBeGreaterThan(least[server])
  },
  8 * minutes,
)
