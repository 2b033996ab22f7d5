/** Builds an image: made in a hidden folder beside its place, synced, and renamed when it is whole. */
import { createHash } from 'node:crypto'
import { chmod, mkdir, open, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { imageFile, imageFolder, type LocalImage } from '@backlot/contract/vmhost/image'
import { Apt, unpack } from './apt.ts'
import { bareKernel } from './compressed.ts'
import { cpio, fileType } from './cpio.ts'
import { makeDisk, makeDiskOver } from './disk.ts'
import { readImage } from './local-images.ts'
import { dependencyList, type KernelModule, KernelModules } from './modules.ts'
import { placePrograms } from './programs.ts'
import { type BuiltRoot, type DesktopRoot, guestFolder, type Recipe } from './recipe.ts'
import { recipes } from './recipes/index.ts'
import { requirePrograms } from './run.ts'
import { versionsFile, versionsOf } from './versions.ts'

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
  /** The root of packages for images of a desktop, where the caller has one. */
  readonly desktopRoot?: DesktopRoot
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
  const digest = digestOf(recipe, options)
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
    // While the disk is made it can be written to by whoever reaches it.
    await mkdir(work, { mode: 0o700 })
    await mkdir(join(work, 'image'))
    const image = await make(recipe, digest, work, options)
    await replace(folder, join(work, 'image'), work)
    return { folder, image, wasThere: false }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

const workPrefix = '.building-'

/** What an image depends on beside the packages: its recipe, and the way of this builder. */
const digestOf = (recipe: Recipe, { desktopRoot }: BuildOptions): string =>
  createHash('sha256')
    .update(JSON.stringify({ builder: 2, recipe, ...(recipe.isOverDesktop && { root: desktopRoot?.version }) }))
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

const make = async (recipe: Recipe, digest: string, work: string, options: BuildOptions): Promise<LocalImage> => {
  const { signal, onProgress = () => {} } = options
  const packages = join(work, 'packages')
  const kernelFolder = join(work, 'kernel')
  const root = join(work, 'root')
  const image = join(work, 'image')
  const base = await baseOf(recipe, options)

  const { kernel, files } = await fetchPackages(recipe, options)
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

  onProgress({ step: 'making the root file system' })
  await makeRoot(recipe, root, packages, signal)
  // Where a root of packages has `lib` there is a link.
  const moduleFolder = join(root, base === undefined ? 'lib' : 'usr/lib', 'modules', modules.release)
  await placeModules(moduleFolder, await modules.closure(recipe.modules.root))

  onProgress({ step: 'making the disk' })
  const busybox = new Uint8Array(await readFile(join(programRoot(recipe, root), 'bin/busybox')))
  await writeFile(join(image, 'initrd'), initrd(recipe.init, busybox, first))
  const disk = { bytes: recipe.diskBytes, label: recipe.name, signal }
  if (base === undefined) await makeDisk(join(image, 'disk.raw'), root, disk)
  else await makeDiskOver(join(image, 'disk.raw'), base, root, disk)
  await writeFile(join(image, versionsFile), await versionsOf(files, base))

  const made = descriptionOf(recipe, digest)
  await writeFile(join(image, imageFile), `${JSON.stringify(made, null, 2)}\n`)
  return made
}

/** Fetches the kernel's package and those of the programs, with what they need; answers with the kernel's name and all files. */
const fetchPackages = async (
  recipe: Recipe,
  { cacheDirectory, signal, onProgress = () => {} }: BuildOptions,
): Promise<{ kernel: string; files: string[] }> => {
  onProgress({ step: 'finding packages' })
  const apt = new Apt(join(cacheDirectory, '.apt'), signal)
  const kernel = await apt.meant(recipe.kernel)
  const names = await apt.closure([
    recipe.busybox,
    ...Object.values(recipe.programs),
    ...Object.values(recipe.libraries ?? {}),
  ])
  const files = await apt.fetch([kernel, ...names], (percent) => onProgress({ step: 'fetching packages', percent }))
  return { kernel, files }
}

/** What stands in the image's description. */
const descriptionOf = ({ name, tag, append, defaults, ports, runsExecutable }: Recipe, digest: string): LocalImage => ({
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
  ...(runsExecutable && { runsExecutable }),
})

const baseOf = async (
  recipe: Recipe,
  { desktopRoot, signal, onProgress = () => {} }: BuildOptions,
): Promise<BuiltRoot | undefined> => {
  if (!recipe.isOverDesktop) return undefined
  if (desktopRoot !== undefined) {
    const onStep = (step: string) => onProgress({ step: `root: ${step}` })
    return desktopRoot.build(onStep, signal ?? new AbortController().signal)
  }
  throw new Failure('image_not_built', `"${recipe.name}" needs a root of packages, which nobody gave.`, {})
}

/** Where the programs that bring the guest up stand. */
const programRoot = (recipe: Recipe, root: string): string => (recipe.isOverDesktop ? join(root, guestFolder) : root)

/** Makes what the recipe puts on the disk: programs, folders, files. */
const makeRoot = async (recipe: Recipe, root: string, packages: string, signal?: AbortSignal): Promise<void> => {
  const place = programRoot(recipe, root)
  await placePrograms(
    ['/bin/busybox', ...Object.keys(recipe.programs), ...Object.keys(recipe.libraries ?? {})],
    packages,
    place,
  )
  for (const [path, mode] of Object.entries(recipe.folders)) {
    await mkdir(join(root, path), { recursive: true })
    await chmod(join(root, path), mode)
  }
  if (!recipe.isOverDesktop) await linkApplets(root, signal)
  for (const [path, { text, mode = 0o644 }] of Object.entries(recipe.files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await rm(join(root, path), { force: true })
    await writeFile(join(root, path), text)
    await chmod(join(root, path), mode)
  }
  if (recipe.isOverDesktop) await linkApplets(place, signal, () => 'bin')
  for (const [path, target] of Object.entries(recipe.links ?? {})) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await symlink(target, join(root, path))
  }
}

const placeModules = async (folder: string, modules: readonly KernelModule[]): Promise<void> => {
  await mkdir(folder, { recursive: true })
  for (const { file, data } of modules) await writeFile(join(folder, file), data)
  await writeFile(join(folder, 'modules.dep'), dependencyList(modules))
}

const initrd = (init: string, busybox: Uint8Array, modules: readonly KernelModule[]): Uint8Array => {
  const folders = ['bin', 'dev', 'proc', 'sys', 'disk', 'modules']
  const text = (content: string) => new TextEncoder().encode(content)
  return cpio([
    ...folders.map((path) => ({ path, mode: fileType.folder | 0o755 })),
    // The kernel opens it for the first program before that can mount anything.
    { path: 'dev/console', mode: fileType.device | 0o600, device: [5, 1] },
    { path: 'bin/busybox', mode: fileType.file | 0o755, data: busybox },
    { path: 'bin/sh', mode: fileType.link | 0o777, data: text('busybox') },
    { path: 'init', mode: fileType.file | 0o755, data: text(init) },
    ...modules.map(({ file, data }) => ({ path: `modules/${file}`, mode: fileType.file | 0o644, data })),
    {
      path: 'modules/order',
      mode: fileType.file | 0o644,
      data: text(modules.map(({ file }) => `${file}\n`).join('')),
    },
  ])
}

/** Gives busybox all its names, each in its own folder or in one: those of programs that stand there already stay theirs. */
const linkApplets = async (
  root: string,
  signal?: AbortSignal,
  folderOf: (path: string) => string = dirname,
): Promise<void> => {
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
    const folder = folderOf(path)
    await mkdir(join(root, folder), { recursive: true })
    const target = relative(join('/', folder), '/bin/busybox')
    await symlink(target, join(root, folder, basename(path))).catch(unless('EEXIST'))
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
