/** `backlot local pool`, `pools` and `claim`: sandboxes that wait for who needs one at once. */

import { fstatSync } from 'node:fs'
import { codeOf, Failure } from '@backlot/contract/failure'
import { linesOf } from '@backlot/contract/lines'
import { whenParentEnds } from '@backlot/headless'
import {
  findPool,
  isolationOfPool,
  listPools,
  newName,
  type PoolInfo,
  type PoolRecord,
  poolNotFound,
  poolsFolder,
  sandboxesFolder,
  sandboxName,
  tryOwnPool,
} from '@backlot/local'
import { readFlags } from '../../flags.ts'
import { print, printJson, say } from '../../terminal/output.ts'
import { isTerminal, table } from '../../terminal/table.ts'
import { startDetached } from '../detached.ts'
import type { LocalVerb } from '../local-verb.ts'
import { labelOf, numberOf, readNewSandbox } from '../new-sandbox.ts'
import { type FailureLine, inputEnds, signalled } from '../supervise.ts'
import type { PoolKind } from './member.ts'
import { ownPool, type PoolCalls } from './owner.ts'
import { waitInPool } from './waiting.ts'

/** The name of a pool where nobody gives one. */
const usualName = 'default'

const callPool = async <Path extends keyof PoolCalls>(
  { name, port, key }: PoolRecord,
  path: Path,
  body: PoolCalls[Path],
): Promise<Record<string, unknown>> => {
  let answer: Response
  try {
    answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  } catch {
    throw poolNotFound(name)
  }
  const value = (await answer.json()) as Record<string, unknown> & { error?: FailureLine }
  if (value.error === undefined) return value
  const { code, message, data } = value.error
  throw new Failure(codeOf(code), message, data)
}

/** Takes the place of the pool of that name, if there is one: it is ended. */
const takeOver = async (name: string) => {
  const folder = poolsFolder()
  for (;;) {
    const lock = await tryOwnPool(folder, name)
    if (lock !== null) return lock
    const other = await findPool(folder, name)
    if (other !== null) await callPool(other, '/end', {}).catch(() => undefined)
    await Bun.sleep(20)
  }
}

const endPool = async (name: string): Promise<number> => {
  const lock = await takeOver(name)
  lock.release()
  await printJson({ name, size: 0 })
  return 0
}

const flagsOf = (args: readonly string[]) => {
  const detach = args.includes('--detach')
  const detached = args.includes('--detached')
  return { detach, detached, rest: args.filter((word) => word !== '--detach' && word !== '--detached') }
}

/** Splits off the words that are the pool's own: its name and its size; the others say what its sandboxes shall be. */
const ownWords = (args: readonly string[]) => {
  const [first = ''] = args
  const hasName = first !== '' && !first.startsWith('-')
  const words = hasName ? args.slice(1) : [...args]
  const at = words.findIndex((word) => word === '--size' || word.startsWith('--size='))
  const [flag = ''] = at === -1 ? [] : words.splice(at, 1)
  const [size] = flag === '--size' ? words.splice(at, 1) : flag === '' ? [] : [flag.slice('--size='.length)]
  return { name: sandboxName(hasName ? first : usualName), size: sizeOf(size, flag !== ''), words }
}

const sizeOf = (text = '', isGiven: boolean): number | null => {
  if (!isGiven) return null
  if (/^\d{1,3}$/.test(text)) return Number(text)
  throw new Failure(
    'invalid_argument',
    `--size is "${text}"; it takes a whole number up to 999, and 0 ends the pool.`,
    { argument: 'size' },
  )
}

const pool: LocalVerb = async (args) => {
  const { detach, detached, rest } = flagsOf(args)
  const { name, size, words } = ownWords(rest)
  if (size === 0) return endPool(name)
  if (detach) return startKeeper(rest)
  const hasInput = words.includes('--image-from-input')
  if (hasInput && words.includes('--env-from-input')) {
    throw new Failure('usage', '--image-from-input has the variables too: leave --env-from-input out.')
  }
  const { wanted, timeoutMs } = await readNewSandbox(words.filter((word) => word !== '--image-from-input'))
  if (wanted.source !== null || wanted.ephemeral || wanted.name !== undefined || wanted.ttlMs !== null) {
    throw new Failure(
      'usage',
      'A pool takes no --snapshot, --ephemeral, --name or --ttl-ms: see `backlot local --help`.',
    )
  }
  // Said here rather than by each sandbox that does not start.
  const isolation = isolationOfPool(sandboxesFolder(), wanted)
  const image = hasInput ? imageIn(await Bun.stdin.text()) : { env: {}, layers: [] }
  const kind: PoolKind = {
    wanted: { ...wanted, isolation, env: { ...wanted.env, ...image.env } },
    timeoutMs,
    layers: image.layers,
  }
  const kindName = new Bun.CryptoHasher('sha256').update(JSON.stringify(kind)).digest('hex')
  const there = await findPool(poolsFolder(), name)
  if (there?.kind === kindName) {
    await printJson(await callPool(there, '/size', { size }))
    return 0
  }
  const lock = await takeOver(name)
  try {
    const signals = signalled(['SIGTERM', 'SIGINT', 'SIGHUP'])
    const isPipe = !readsInput(words) && (fstatSync(0).isFIFO() || fstatSync(0).isSocket())
    const ending = detached ? signals : Promise.race([signals, inputEnds(isPipe), whenParentEnds()])
    await ownPool({ name, kind, kindName, size }, ending, async (info) => {
      for (const warning of info.warnings) await say(warning)
      await printJson(info)
    })
  } finally {
    lock.release()
  }
  return 0
}

/** Whether standard input is read, so that its end says nothing of who started the pool. */
const readsInput = (words: readonly string[]): boolean =>
  words.includes('--image-from-input') || words.includes('--env-from-input')

const imageIn = (text: string): { env: Record<string, string>; layers: unknown[] } => {
  try {
    const { env = {}, layers = [] } = JSON.parse(text)
    return { env, layers }
  } catch {
    throw new Failure('invalid_argument', '--image-from-input is for a JSON object on standard input.', {
      argument: 'image-from-input',
    })
  }
}

/** Lets a process of its own keep the pool; settles when that can be used. */
const startKeeper = async (words: readonly string[]): Promise<number> => {
  const child = startDetached(['--json', 'pool', ...words, '--detached'], readsInput(words) ? 'inherit' : 'ignore')
  const said = (await linesOf(child.stdout).next()).value
  if (said === undefined) {
    throw new Failure(
      'sandbox_not_started',
      `The pool ended with status ${await child.exited}; start it without --detach.`,
    )
  }
  const value = JSON.parse(said) as PoolInfo & { error?: FailureLine }
  if (value.error !== undefined) throw new Failure(value.error.code, value.error.message, value.error.data)
  child.unref()
  await printJson(value)
  return 0
}

const pools: LocalVerb = async (args) => {
  const { values } = readFlags('local pools', { args: [...args], options: { json: { type: 'boolean' } } })
  const found = await listPools(poolsFolder())
  // One that ends meanwhile is none.
  const asked = await Promise.allSettled(found.map((each) => callPool(each, '/info', {})))
  const infos = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value as unknown as PoolInfo] : []))
  if (values.json || !isTerminal()) await printJson({ pools: infos })
  else if (infos.length === 0) await print('There are no pools. `backlot local pool --size N` keeps one.')
  else await print(table(infos.map(({ warnings: _, ...row }) => ({ ...row }))))
  return 0
}

const claim: LocalVerb = async (args) => {
  const { values, positionals } = readFlags('local claim', {
    args: [...args],
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      label: { type: 'string', multiple: true },
      'ttl-ms': { type: 'string' },
    },
  })
  const [name = usualName, ...more] = positionals
  if (more.length > 0) throw new Failure('usage', '`backlot local claim` takes the name of one pool.')
  const record = await findPool(poolsFolder(), sandboxName(name))
  if (record === null) throw poolNotFound(name)
  const info = await callPool(record, '/claim', {
    name: values.name === undefined ? newName() : sandboxName(values.name),
    labels: Object.fromEntries((values.label ?? []).map(labelOf)),
    ttlMs: numberOf('ttl-ms', values['ttl-ms'], { least: 1, most: Number.MAX_SAFE_INTEGER / 2 }),
  })
  await callPool(record, '/keep', { name: String(info.name) })
  await printJson(info)
  return 0
}

/** The verbs of pools by their names; nobody calls `wait` but a pool. */
export const poolVerbs: Readonly<Record<string, LocalVerb>> = { pool, pools, claim, wait: waitInPool }
