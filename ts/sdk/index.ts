/** `@backlot/sdk`: computers for agents. */
export { type LoginOptions, login, whoami } from './account.ts'
export type {
  Bytes,
  CallOptions,
  CommandResult,
  Content,
  Environment,
  ImageKind,
  Listing,
  OsType,
  Point,
  Size,
} from './basics.ts'
export { LayerExecutor, type LayerExecutorOptions } from './build/layer-executor.ts'
export { createOverlay } from './build/overlay.ts'
export { Computer, type LaunchOptions } from './computer.ts'
export { type Configuration, configure } from './configuration.ts'
export { localhost, sandbox } from './deprecated.ts'
export {
  ActionError,
  AuthenticationError,
  BacklotError,
  CommandError,
  ConflictError,
  ConnectionError,
  type ErrorCode,
  InvalidArgumentError,
  LayerError,
  NotFoundError,
  ResourceError,
  type SdkError,
  TimeoutError,
  UnavailableError,
  UnsupportedError,
} from './errors.ts'
export type { ImageDict } from './image/dict.ts'
export { type FromFileOptions, Image, type LinuxOptions, type PwaOptions } from './image/image.ts'
export type { Layer } from './image/layer.ts'
export type { Clipboard } from './interfaces/clipboard.ts'
export type { AccessibleElement, ElementQuery } from './interfaces/element.ts'
export type { FileEvent, ReadOptions } from './interfaces/file-streams.ts'
export type { FileInfo, Files, WriteOptions } from './interfaces/files.ts'
export type { Film, Films } from './interfaces/film.ts'
export type { Key, Keyboard } from './interfaces/keyboard.ts'
export type {
  GestureOptions,
  Mobile,
  PinchOptions,
  SwipeOptions,
  TouchOptions,
  TouchPoint,
} from './interfaces/mobile.ts'
export type { ButtonOptions, DragOptions, Mouse, MouseButton, ScrollOptions } from './interfaces/mouse.ts'
export type { Command, CommandOutput } from './interfaces/running-command.ts'
export type { Screen } from './interfaces/screen.ts'
export type { CommandOptions, Shell } from './interfaces/shell.ts'
export type { Terminal, TerminalOptions, Terminals } from './interfaces/terminal.ts'
export type { Tunnel, TunnelMap, Tunnels } from './interfaces/tunnel.ts'
export type { WindowInfo, Windows } from './interfaces/windows.ts'
export { Localhost } from './localhost.ts'
export type { ScreenshotOptions } from './picture.ts'
export type { Ability, Isolation, Resources, RuntimeCheck, RuntimeFeatures } from './runtimes/features.ts'
export { type HeldSandbox, Runtime, type StartOptions } from './runtimes/runtime.ts'
export type { RuntimeInfo } from './runtimes/runtime-info.ts'
export { type RuntimeName, runtimes } from './runtimes/table.ts'
export type {
  CopyOptions,
  Mount,
  Network,
  Progress,
  SandboxInfo,
  SandboxOptions,
  SandboxStatus,
  SavedSandbox,
  Source,
  WarmPoolInfo,
  WarmPoolOptions,
} from './sandbox/options.ts'
export { Sandbox } from './sandbox/sandbox.ts'
export type {
  Address,
  CloudOptions,
  ConnectOptions,
  CreateOptions,
  ListOptions,
  LookupOptions,
  RuntimeChoice,
  Where,
} from './sandbox/where.ts'
export { Snapshot } from './snapshot.ts'
export type { Credentials } from './transports/address.ts'
export { CloudTransport, type CloudTransportOptions } from './transports/cloud.ts'
export type { Commands } from './transports/commands.ts'
export { HTTPTransport, type HTTPTransportOptions } from './transports/http.ts'
export { LocalTransport, type LocalTransportOptions } from './transports/local.ts'
export { type DisplayUrlOptions, Transport } from './transports/transport.ts'
export type { TunnelInfo, TunnelOptions, TunnelTarget } from './transports/tunnels.ts'
export { WebSocketTransport } from './transports/websocket/websocket.ts'
export { type ClaimOptions, WarmPool } from './warm-pool.ts'
