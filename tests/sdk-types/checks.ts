/** What must not compile, and what users write by hand. */
import {
  BacklotError,
  type CallOptions,
  type CreateOptions,
  createOverlay,
  sandbox as deprecated,
  type ErrorCode,
  HTTPTransport,
  Image,
  LayerExecutor,
  localhost,
  NotFoundError,
  Runtime,
  type RuntimeChoice,
  type RuntimeFeatures,
  type RuntimeInfo,
  runtimes,
  Sandbox,
  type SandboxOptions,
  type SandboxStatus,
  type Size,
  Snapshot,
  type Source,
  Transport,
} from '@backlot/sdk'

class MyTransport extends Transport {
  async connect() {}
  async disconnect() {}
  protected async request(action: string, params: Readonly<Record<string, unknown>>) {
    return { action, params }
  }
}
class MyRuntime extends Runtime {
  readonly name = 'mine'
  readonly features: RuntimeFeatures = {
    os: ['linux'],
    kinds: ['container'],
    isolation: 'container',
    suspend: 'frozen',
    fork: { unsupported: 'No.' },
    snapshot: 'disk',
    pool: { unsupported: 'No.' },
    display: true,
    tunnel: true,
    mounts: true,
    network: ['internet'],
    resources: ['cpu', 'memoryMb'],
  }
  async start(_source: Source, name: string, _options?: SandboxOptions): Promise<RuntimeInfo> {
    return { host: name, apiPort: 8000 }
  }
  async stop(_name: string) {}
  async isReady(_info: RuntimeInfo, _options?: CallOptions) {
    return true
  }
  async suspend(_name: string) {}
  async resume(_source: Source, name: string) {
    return { host: name, apiPort: 8000 }
  }
  async list() {
    return [{ name: 'a', status: 'running' as SandboxStatus, node: 'n1' }]
  }
}

export async function accepted(choice: RuntimeChoice, maybe: boolean) {
  const image = Image.linux('debian', '12', 'vm')
  await Sandbox.create(image, { runtime: choice })
  await Sandbox.create(image, { local: true, runtime: new MyRuntime() })
  await Sandbox.create(image, { local: false, apiKey: 'k', region: 'us-east-1', cpu: 2, memoryMb: 4096, diskGb: 20 })
  await Sandbox.create(image, { local: true, name: 'x' })
  await Sandbox.create(await Snapshot.get('s'), maybe ? { runtime: 'qemu' } : {})
  await Sandbox.connect('x', { transport: new MyTransport() })
  await Sandbox.connect('x', { wsUrl: 'ws://h:8000/ws', apiKey: 'k' })
  await Sandbox.connect('x', { cpu: 2 })
  const infos = await Sandbox.list({ local: true })
  infos.map((info) => info.vncUrl?.length)
  const sandbox = await Sandbox.connect('x')
  await sandbox.mouse.click(1, 2)
  await sandbox.mouse.click(1, 2, 'right')
  await sandbox.mouse.click(1, 2, { button: 'right', timeoutMs: 1 })
  await sandbox.mouse.scroll(1, 2)
  await sandbox.mouse.scroll(1, 2, 0, -3)
  await sandbox.mouse.scroll(1, 2, { scrollY: -3 })
  await sandbox.mouse.drag(1, 2, 3, 4, 'left')
  await sandbox.keyboard.keypress('Return')
  await sandbox.keyboard.keypress(['ctrl', 'c'])
  const terminal = await sandbox.terminal.create('zsh', 100, 30)
  await sandbox.terminal.sendInput(terminal.pid, 'ls\n')
  await sandbox.terminal.resize(terminal.pid, 80, 24)
  const code: number | null = await sandbox.terminal.close(terminal.pid)
  const tunnels = await sandbox.tunnel.forward(80, 443, 'socket')
  tunnels.get(80)?.url
  await sandbox.mobile.gesture([1, 2], [3, 4], [5, 6], [7, 8])
  await sandbox.mobile.gesture([1, 2], [3, 4], { steps: 9 })
  const { size }: { size: Size } = await sandbox.transport.send('get_screen_size')
  const other = await new HTTPTransport('http://h:8000').send('find_element', { role: 'button' })
  await new LayerExecutor('http://h:8000').executeLayers(image.toDict().layers)
  await createOverlay('a.qcow2', 'b.qcow2')
  await using here = await localhost()
  await using old = await deprecated({ image, ephemeral: true, local: true })
  const blob = new Blob([await sandbox.screenshot()])
  const check = await runtimes.kubernetes().check()
  const why = check.available ? check.features.suspend : check.remedy
  const everyCode: ErrorCode = 'disk_full'
  return { code, size, other, here, old, blob, why, everyCode }
}

export async function refused(error: unknown) {
  // @ts-expect-error The region belongs to the cloud.
  const a: CreateOptions = { runtime: 'container', region: 'us-east-1' }
  // @ts-expect-error A local sandbox has no cloud key.
  const b: CreateOptions = { local: true, apiKey: 'k' }
  // @ts-expect-error No such runtime.
  const c: CreateOptions = { runtime: 'podman' }
  const sandbox = await Sandbox.ephemeral(Image.desktop())
  // @ts-expect-error PNG has no quality.
  await sandbox.screenshot({ format: 'png', quality: 80 })
  // @ts-expect-error Images are made by builders.
  new Image()
  // @ts-expect-error Seconds by position are not milliseconds.
  await sandbox.shell.run('ls', 30)
  // @ts-expect-error A file has no target.
  for (const file of await sandbox.files.list('/')) if (file.type === 'file') console.log(file.target)
  // @ts-expect-error Either of two addresses.
  await Sandbox.connect('x', { httpUrl: 'http://h', wsUrl: 'ws://h' })
  // @ts-expect-error A promise is not disposed, its sandbox is.
  await using unawaited = Sandbox.ephemeral(Image.desktop())
  // @ts-expect-error The bounds of a window are numbers.
  await sandbox.window.setBounds(1, { x: '1' })
  if (BacklotError.is(error) && error.code === 'layer_failed') console.log(error.layer.type, error.result.stderr)
  if (error instanceof NotFoundError && error.code === 'file_not_found') console.log(error.data)
  return { a, b, c, unawaited }
}
