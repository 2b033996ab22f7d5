/** Builds an image: made in a hidden folder beside its place, synced, and renamed when it is whole. */
import { createHash } from 'node:crypto'
import { chmod, mkdir, open, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { imageFile, imageFolder, type LocalImage } from '@backlot/contract/vmhost/image'
import { Apt, unpack } from './apt.ts'
import { bareKernel } from './compressed.ts'
import { cpio, fileType } from './cpio.ts'
import { makeDisk } from './disk.ts'
import { readImage } from './local-images.ts'
import { dependencyList, KernelModules } from './modules.ts'
import { placePrograms } from './programs.ts'
import type { Recipe } from './recipe.ts'
import { recipes } from './recipes/index.ts'
import { requirePrograms } from './run.ts'

/** What a build is doing. */
export interface BuildProgress {
  readonly step: string
  /** Per cent of the step, where it is known. */
  readonly percent?: number
}

/** How an image is built. */
export interface BuildOptions {
  /** Folder under which images stand, each in `NAME_TAG`. */
  readonly cacheDirectory: string
  /** Builds it even where one of the same recipe stands already. */
  readonly again?: boolean
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: (progress: BuildProgress) => void
}

/** The image that stands now. */
export interface BuiltImage {
  readonly folder: string
  readonly image: LocalImage
  /** Whether it stood already. */
  readonly wasThere: boolean
}

/**
 * Builds the image of that name, unless one of the same recipe stands already.
 * Throws `unknown_image`, `missing_program`, `packages_unavailable`, `image_not_built` and `cancelled`; then nothing has
 * changed.
 */
export const buildImage = async (name: string, options: BuildOptions): Promise<BuiltImage> => {
  const recipe = recipes[name]
  if (recipe === undefined) {
    throw new Failure(
      'unknown_image',
      `There is no recipe "${name}". There is ${Object.keys(recipes)
        .map((each) => `"${each}"`)
        .join(', ')}.`,
      { name },
    )
  }
  const digest = digestOf(recipe)
  const folder = join(options.cacheDirectory, imageFolder(recipe.name, recipe.tag))
  const standing = await readImage(folder)
  if (standing?.recipe === digest && !options.again) return { folder, image: standing, wasThere: true }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Failure(
      'image_not_built',
      `Images are built on Linux on x86-64, not on ${process.platform}-${process.arch}. Build it there and copy the folder "${folder}".`,
    )
  }
  requirePrograms()
  await mkdir(options.cacheDirectory, { recursive: true })
  await sweep(options.cacheDirectory)
  const work = join(options.cacheDirectory, `${workPrefix}${process.pid}-${crypto.randomUUID()}`)
  try {
    await mkdir(join(work, 'image'), { recursive: true })
    const image = await make(recipe, digest, work, options)
    await replace(folder, join(work, 'image'), work)
    return { folder, image, wasThere: false }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

const workPrefix = '.building-'

/** What an image depends on beside the packages: its recipe, and the way of this builder. */
const digestOf = (recipe: Recipe): string =>
  createHash('sha256')
    .update(JSON.stringify({ builder: 1, recipe }))
    .digest('hex')
    .slice(0, 16)

/** Removes what builders left behind that were killed. */
const sweep = async (cacheDirectory: string): Promise<void> => {
  for (const name of await readdir(cacheDirectory)) {
    const [, pid] = new RegExp(`^${RegExp.escape(workPrefix)}(\\d+)-`).exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid)))
      await rm(join(cacheDirectory, name), { recursive: true, force: true })
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const make = async (
  recipe: Recipe,
  digest: string,
  work: string,
  { cacheDirectory, signal, onProgress = () => {} }: BuildOptions,
): Promise<LocalImage> => {
  const packages = join(work, 'packages')
  const kernelFolder = join(work, 'kernel')
  const root = join(work, 'root')
  const image = join(work, 'image')

  onProgress({ step: 'finding packages' })
  const apt = new Apt(join(cacheDirectory, '.apt'), signal)
  const kernel = await apt.meant(recipe.kernel)
  const names = await apt.closure([recipe.busybox, ...Object.values(recipe.programs)])
  const files = await apt.fetch([kernel, ...names], (percent) => onProgress({ step: 'fetching packages', percent }))

  onProgress({ step: 'unpacking packages' })
  for (const file of files) {
    await unpack(file, file.includes(`/${kernel}_`) ? kernelFolder : packages, signal)
  }

  onProgress({ step: 'making the kernel ready' })
  const boot = (await readdir(join(kernelFolder, 'boot'))).find((each) => each.startsWith('vmlinuz-')) ?? 'vmlinuz'
  const compressed = new Uint8Array(await readFile(join(kernelFolder, 'boot', boot)))
  await writeFile(join(image, 'kernel'), await bareKernel(compressed, boot))
  const modules = await KernelModules.open(kernelFolder)
  const first = await modules.closure(recipe.modules.initrd)
  const kept = await modules.closure(recipe.modules.root)

  onProgress({ step: 'making the root file system' })
  await placePrograms(['/bin/busybox', ...Object.keys(recipe.programs)], packages, root)
  for (const [path, mode] of Object.entries(recipe.folders)) {
    await mkdir(join(root, path), { recursive: true })
    await chmod(join(root, path), mode)
  }
  await linkApplets(root, signal)
  for (const [path, { text, mode = 0o644 }] of Object.entries(recipe.files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await rm(join(root, path), { force: true })
    await writeFile(join(root, path), text)
    await chmod(join(root, path), mode)
  }
  const moduleFolder = join(root, 'lib/modules', modules.release)
  await mkdir(moduleFolder, { recursive: true })
  for (const { file, data } of kept) await writeFile(join(moduleFolder, file), data)
  await writeFile(join(moduleFolder, 'modules.dep'), dependencyList(kept))

  onProgress({ step: 'making the disk' })
  const busybox = new Uint8Array(await readFile(join(root, 'bin/busybox')))
  const folders = ['bin', 'dev', 'proc', 'sys', 'disk', 'modules']
  await writeFile(
    join(image, 'initrd'),
    cpio([
      ...folders.map((path) => ({ path, mode: fileType.folder | 0o755 })),
      // The kernel opens it for the first program before that can mount anything.
      { path: 'dev/console', mode: fileType.device | 0o600, device: [5, 1] },
      { path: 'bin/busybox', mode: fileType.file | 0o755, data: busybox },
      { path: 'bin/sh', mode: fileType.link | 0o777, data: new TextEncoder().encode('busybox') },
      { path: 'init', mode: fileType.file | 0o755, data: new TextEncoder().encode(recipe.init) },
      ...first.map(({ file, data }) => ({ path: `modules/${file}`, mode: fileType.file | 0o644, data })),
      {
        path: 'modules/order',
        mode: fileType.file | 0o644,
        data: new TextEncoder().encode(first.map(({ file }) => `${file}\n`).join('')),
      },
    ]),
  )
  await makeDisk(join(image, 'disk.raw'), root, { bytes: recipe.diskBytes, label: recipe.name, signal })

  const { name, tag, append, defaults, ports } = recipe
  const made: LocalImage = {
    name,
    tag,
    os: 'linux',
    kernel: 'kernel',
    initrd: 'initrd',
    append,
    disk: 'disk.raw',
    diskFormat: 'raw',
    defaults,
    ports: [...ports],
    recipe: digest,
  }
  await writeFile(join(image, imageFile), `${JSON.stringify(made, null, 2)}\n`)
  return made
}

/** Gives busybox all its names: those of programs that stand there already stay theirs. */
const linkApplets = async (root: string, signal?: AbortSignal): Promise<void> => {
  const busybox = join(root, 'bin/busybox')
  const child = Bun.spawn([busybox, '--list-full'], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    ...(signal === undefined ? {} : { signal }),
  })
  const [list] = await Promise.all([child.stdout.text(), child.exited])
  const paths = list.split('\n').filter((path) => /^[\w./[-]+$/.test(path) && path !== 'bin/busybox')
  if (!paths.includes('sbin/init')) {
    throw new Failure('image_not_built', 'The busybox of the package names no "init". Build on Debian 12 or later.', {})
  }
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await symlink(relative(dirname(join('/', path)), '/bin/busybox'), join(root, path)).catch(unless('EEXIST'))
  }
}

/** Puts the folder `made` in the place of `folder`, whole on the disk before it is seen. */
const replace = async (folder: string, made: string, work: string): Promise<void> => {
  for (const file of [...(await readdir(made)).map((name) => join(made, name)), made]) await sync(file)
  for (;;) {
    await rename(folder, join(work, `former-${crypto.randomUUID()}`)).catch(unless('ENOENT'))
    // Another builder may have put its own in the place meanwhile.
    const taken = await rename(made, folder).then(() => false, unless('ENOTEMPTY', 'EEXIST'))
    if (taken !== true) break
  }
  await sync(dirname(folder))
}

const unless =
  (...codes: string[]) =>
  (error: NodeJS.ErrnoException): true => {
    if (codes.includes(error.code ?? '')) return true
    throw error
  }

const sync = async (path: string): Promise<void> => {
  await using file = await open(path, 'r')
  await file.sync()
}
