/** The native core: finds the binding of this platform, loads it, and gives its exports their types. */

import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'
import type * as Binding from './binding.d.ts'

/** One row a platform; each path is a literal so that `bun build --compile` embeds the file. */
const bindings: Readonly<Record<string, () => typeof Binding>> = {
  'linux-x64': () => require('./backlot.linux-x64-gnu.node'),
}

const load = (): typeof Binding => {
  const platform = `${process.platform}-${process.arch}`
  const chosen = process.env[environment.nativePath]
  const binding = chosen ? () => require(chosen) : bindings[platform]
  const wayOut = `Known platforms: ${Object.keys(bindings).join(', ')}; ${environment.nativePath} names a file to load instead.`
  const data = { platform, path: chosen ?? null }
  if (binding === undefined) {
    throw new Failure('unsupported_platform', `There is no native core for "${platform}". ${wayOut}`, data)
  }
  try {
    return binding()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    // The compiled executable writes it into the temporary folder first, and says nothing when that fails.
    const unpacked = process.env.BUN_TMPDIR || process.env.TMPDIR || '/tmp'
    const isUnpacked = !chosen && (reason.includes('$bunfs') || reason.includes(`${unpacked}/.bun-`))
    throw isUnpacked
      ? new Failure(
          'unsupported_platform',
          `The native core cannot be unpacked into "${unpacked}" and loaded from there: ${reason}. Make room there, or let BUN_TMPDIR name a folder that can be written and is not mounted noexec.`,
          { ...data, folder: unpacked },
        )
      : new Failure(
          'unsupported_platform',
          `The native core${chosen ? ` "${chosen}"` : ''} cannot be loaded on "${platform}": ${reason}. ${wayOut}`,
          data,
        )
  }
}

export const {
  Accessibility,
  Agent,
  AppQueues,
  AxCancel,
  Capturer,
  CoreDevices,
  Cursors,
  Desktop,
  FileLock,
  Film,
  LiveFilm,
  MemoryFile,
  QmpClient,
  Remuxer,
  StopKey,
  axRoundTrips,
  becomeInLandlock,
  callerSockets,
  checkCombination,
  checkCursorImage,
  checkDisk,
  checkKey,
  checkModifiers,
  colorHex,
  colorOf,
  createDisk,
  createOverlay,
  diskInfo,
  enterEnvironment,
  hasLandlock,
  mayHoldSocket,
  releaseExecutableData,
  resizeDisk,
  signalWhenParentEnds,
  startSubreaper,
  sweepAgents,
  sweepCoreDevices,
  version,
} = load()

export type Accessibility = Binding.Accessibility
export type Agent = Binding.Agent
export type AppQueues = Binding.AppQueues
export type AxSnapshot = Binding.AxSnapshot
export type Capturer = Binding.Capturer
export type CoreDevices = Binding.CoreDevices
export type Cursors = Binding.Cursors
export type Desktop = Binding.Desktop
export type FileLock = Binding.FileLock
export type Film = Binding.Film
export type LiveFilm = Binding.LiveFilm
export type QmpClient = Binding.QmpClient
export type Remuxer = Binding.Remuxer
export type Shot = Binding.Shot
export type StopKey = Binding.StopKey
export type {
  App,
  AxCell,
  AxElement,
  AxFrame,
  AxOption,
  AxPlace,
  Clip,
  CoreClick,
  CoreDrag,
  CoreWheel,
  CursorPace,
  CursorState,
  CursorStyle,
  Delivery,
  DiskCheck,
  DiskInfo,
  DiskLayer,
  FilmState,
  FrameExtents,
  Launched,
  LaunchOptions,
  LiveFilmPart,
  LiveFilmStart,
  OverlayOptions,
  Picture,
  Point,
  PreviewPlace,
  Rect,
  Window,
  WindowState,
} from './binding.d.ts'
