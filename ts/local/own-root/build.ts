/** The build of an own root by mmdebstrap, out of Debian's packages from where this machine has its own. */
import { addAbortListener } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { FileLock } from '@backlot/native'
import { program } from '../programs.ts'
import { syncNames } from '../snapshots/copying.ts'
import { removeTree } from '../state/folder.ts'
import { asOwner, ownerThere, withAllIds } from './all-ids.ts'
import script from './bootstrap.sh' with { type: 'text' }
import { type Recipe, suite } from './recipe.ts'
import type { RecipeFile } from './recipe-files.ts'
import { hasRoot, lockAt, rootAt, rootsFolder, sweepRoots, unfinishedAt } from './roots.ts'

/** Where a root is built from whose machine has no sources of that release; SUITE stands for its name. */
const debian = {
  sources: [
    'deb http://deb.debian.org/debian SUITE main',
    'deb http://deb.debian.org/debian SUITE-updates main',
    'deb http://deb.debian.org/debian-security SUITE-security main',
  ],
} as const

/** How a root is built. */
export interface RootBuild {
  /** The folder of the sandboxes that it is for. */
  readonly base: string
  readonly recipe: Recipe
  /** Called with each step in words. */
  readonly onStep: (step: string) => void
  /** Ends the build, of which nothing is left then. */
  readonly signal: AbortSignal
}

/** A root that is there. */
export interface BuiltRoot {
  readonly version: string
  readonly folder: string
  /** Whether this call built it. */
  readonly is_new: boolean
  /** Versions that were removed because no sandbox has them. */
  readonly removed: readonly string[]
}

/**
 * Builds the root of a recipe where it is not there; of two programs one builds and the other waits. A build that was
 * killed is begun anew. Throws `unsupported`, `missing_program`, `root_not_built` or `cancelled`.
 */
export const buildRoot = async (build: RootBuild): Promise<BuiltRoot> => {
  const { base, recipe } = build
  const { version } = recipe
  // Before anything is made: who has no ids for it has no root.
  withAllIds()
  const lock = await lockOf(build)
  try {
    const isNew = !hasRoot(base, version)
    if (isNew) await make(build)
    return { version, folder: rootAt(base, version), is_new: isNew, removed: await sweepRoots(base, version) }
  } finally {
    lock.release()
  }
}

const cancelled = (): Failure =>
  new Failure('cancelled', 'The build of the root was cancelled; start it again: backlot local build')

/** The lock of a root, when who builds it has ended. */
const lockOf = async ({ base, recipe, onStep, signal }: RootBuild): Promise<FileLock> => {
  const { FileLock } = await import('@backlot/native')
  for (let isTold = false; ; isTold = true) {
    const taken = FileLock.take(lockAt(base, recipe.version))
    if (taken !== null) return taken
    if (signal.aborted) throw cancelled()
    if (!isTold) onStep('another program builds this root; waiting for it')
    await Bun.sleep(50)
  }
}

const make = async ({ base, recipe, onStep, signal }: RootBuild): Promise<void> => {
  const bootstrap = program('mmdebstrap', 'The build of a root')
  const unfinished = unfinishedAt(base, recipe.version)
  await removeTree(unfinished)
  const [folder, laid] = [join(unfinished, 'build'), join(unfinished, 'laid')]
  for (const path of [unfinished, folder, laid]) mkdirSync(path, { mode: 0o700 })
  // The home of who builds is not read there.
  const env = { ...process.env, HOME: '/nonexistent', TMPDIR: '/mnt/build' }
  const asRoot = [...withMounts(), '/bin/sh', '-c', script, 'backlot-bootstrap', String(ownerThere()), folder]
  try {
    const words = [...asRoot, ...asOwner(), ...alone, bootstrap, ...(await bootstrapWords(recipe, '/mnt/build/root'))]
    await run(words, { onStep, signal, env })
    onStep('I: laying the files of the recipe')
    const archive = join(unfinished, 'laid.tar')
    for (const [path, file] of Object.entries({ ...recipe.files, ...(await certificates()) })) lay(laid, path, file)
    const packing = ['tar', '--create', '--owner=0', '--group=0', '--mode=u=rwX,go=rX', '--directory', laid]
    await run([...endsWithUs, ...packing, '--file', archive, '.'], { onStep, signal })
    const unpacking = ['tar', '--extract', '--no-overwrite-dir', '--directory', '/mnt/build/root', '--file=/dev/stdin']
    await run([...asRoot, ...asOwner(), ...endsWithUs, ...unpacking], { onStep, signal, env, input: archive })
    await run(['sync', '--file-system', unfinished], { onStep, signal })
    // Who owns a folder moves it elsewhere, and nobody else.
    const root = join(folder, 'root')
    const moving = [...withAllIds(), ...endsWithUs, 'mv', '--no-target-directory', '--', root]
    await run([...moving, rootAt(base, recipe.version)], { onStep, signal })
    syncNames(rootsFolder(base))
  } finally {
    await removeTree(unfinished)
  }
}

/** A command that ends with this process, however that ends. */
const endsWithUs = ['setpriv', '--pdeathsig', 'KILL', '--']

/** A command that may do all with files of own roots, and whose mounts go with it. */
const withMounts = (): string[] => [...endsWithUs, ...withAllIds(), ...endsWithUs, 'unshare', '--mount', '--']

/** A command that ends with this process, and all that it has started with it. */
const alone = [...endsWithUs, 'unshare', '--mount', '--pid', '--fork', '--kill-child', '--']

const bootstrapWords = async ({ packages }: Recipe, folder: string): Promise<string[]> => [
  ...['--mode=root', '--variant=minbase', '--format=directory', `--include=${packages.join(',')}`],
  '--aptopt=APT::Install-Recommends "false"',
  ...(await aptConfiguration()).map((line) => `--aptopt=${line}`),
  ...[suite, folder, ...sources()],
]

/** The machine's own sources of the release, or the public ones where it has none of it. */
const sources = (): string[] => {
  const folder = '/etc/apt/sources.list.d'
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /\.(?:list|sources)$/.test(name)) : []
  const own = [...files.map((name) => join(folder, name)), '/etc/apt/sources.list'].filter((path) => {
    if (!existsSync(path)) return false
    const text = readFileSync(path, 'utf8').replace(/^#.*/gm, '')
    return new RegExp(`\\b${suite}\\b`).test(text) && /\/debian(?:-security)?\/?(?:\s|$)/.test(text)
  })
  return own.length > 0 ? own : debian.sources.map((source) => source.replace('SUITE', suite))
}

/** Settings of this machine's apt that it needs to reach its sources: proxies and certificates. */
const aptConfiguration = async (): Promise<string[]> => {
  const text = await Bun.spawn(['apt-config', 'dump'], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  }).stdout.text()
  return text.split('\n').flatMap((line) => {
    const wanted = /^(Acquire::https?(?:::[^ ]*)?::(?:Proxy|CaInfo|CaPath|Verify-\w+)(?:::[^ ]*)?) ("[^"]+");$/i.exec(
      line,
    )
    return wanted === null ? [] : [`${wanted[1]} ${wanted[2]}`]
  })
}

/** Certificates that this machine's apt is told to trust, at the paths that it is told. */
const certificates = async (): Promise<Record<string, RecipeFile>> => {
  const paths = (await aptConfiguration()).flatMap((line) => /::CaInfo "(\/[^"]+)"$/i.exec(line)?.[1] ?? [])
  return Object.fromEntries(
    paths.filter(existsSync).map((path) => [path, { content: readFileSync(path), mode: 0o644 }]),
  )
}

const lay = (folder: string, path: string, { content, mode }: RecipeFile): void => {
  mkdirSync(folder + dirname(path), { recursive: true })
  writeFileSync(folder + path, content, { mode })
}

type Run = Pick<RootBuild, 'onStep' | 'signal'> & {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string
}

/** Runs a program to its end, and tells what it says of its steps. Throws `root_not_built` or `cancelled`. */
const run = async (
  words: readonly string[],
  { onStep, signal, cwd = '/', env = process.env, input }: Run,
): Promise<void> => {
  if (signal.aborted) throw cancelled()
  const child = Bun.spawn([...words], {
    cwd,
    env,
    stdin: input === undefined ? 'ignore' : Bun.file(input),
    stdout: 'ignore',
    stderr: 'pipe',
  })
  using _ending = addAbortListener(signal, () => child.kill('SIGKILL'))
  let last: string[] = []
  let rest = ''
  for await (const bytes of child.stderr) {
    const lines = (rest + new TextDecoder().decode(bytes)).split(/[\r\n]+/)
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('I: ')) onStep(line)
    last = [...last, ...lines].filter((line) => line.trim() !== '').slice(-6)
  }
  const status = await child.exited
  if (signal.aborted) throw cancelled()
  if (status === 0) return
  throw new Failure(
    'root_not_built',
    `The root was not built: it ended with ${child.signalCode ?? `status ${status}`}: ${[...last, rest].join(' | ').slice(-1_500)}. See that this machine reaches its Debian sources (apt-get update), then run it again.`,
  )
}
