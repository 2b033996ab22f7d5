/** The demo of a sandbox: a desktop of its own that is made, seen, operated, reached and destroyed. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { type AccessibleElement, Image, Sandbox } from '@backlot/sdk'
import type { SandboxPlace } from './sandbox-place.ts'
import type { Steps } from './steps.ts'

const words = 'Grüße aus der Sandbox! Привет! ¿Qué tal? ✓'
/** A package that depends on nothing and is quick to install. */
const installed = 'figlet'
/** Milliseconds that a step waits for what it started. */
const patienceMs = 20_000

/** How the demo is played. */
interface SandboxDemo {
  /** Folder for `screenshot.png` and `tree.json`. */
  readonly kept: string
  readonly signal: AbortSignal
  /** Settles when the sandbox may end, after the last look. */
  stay(viewUrl: string): Promise<void>
  say(line: string): Promise<void>
}

/** Goes through it; the sandbox is destroyed at its end. Throws what failed. */
export const demonstrateSandbox = async (steps: Steps, place: SandboxPlace, demo: SandboxDemo): Promise<void> => {
  const { signal, say } = demo
  const { runtime, network, withoutPackages } = place
  const image = withoutPackages === undefined ? Image.desktop('debian').aptInstall(installed) : Image.desktop('debian')
  const what = withoutPackages === undefined ? `, with a layer that installs ${installed}` : ''
  if (withoutPackages !== undefined) await say(`No package is installed: ${withoutPackages}.`)
  await using sandbox = await steps.run(`start a desktop on the runtime "${runtime}"${what}`, () =>
    // Started in seconds, it is destroyed whole; only the image of a container may take minutes.
    Sandbox.ephemeral(image, { runtime, network, ...(runtime === 'container' && { signal }) }),
  )
  signal.throwIfAborted()
  const cancelled = new Promise<never>((_, reject) => {
    const cancel = () => reject(signal.reason)
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
  })
  cancelled.catch(() => undefined)
  await Promise.race([goThrough(steps, sandbox, place, demo), cancelled])
  await steps.run('destroy it', async () => {
    await sandbox.destroy()
    const left = await Array.fromAsync(Sandbox.list({ runtime }))
    expectThat(!left.some(({ name }) => name === sandbox.name), `"${sandbox.name}" is still listed.`)
  })
}

const goThrough = async (steps: Steps, sandbox: Sandbox, place: SandboxPlace, demo: SandboxDemo): Promise<void> => {
  const { signal, say, stay } = demo
  const { name, isolation, warnings } = await sandbox.getInfo({ signal })
  await say(`It is called ${name}, isolated by ${isolation}.`)
  for (const warning of warnings) await say(warning)
  const viewUrl = await sandbox.getDisplayUrl({ signal })
  await say(`Look at it, once, in a browser: ${viewUrl}`)
  if (place.withoutPackages === undefined) {
    await steps.run(`run what the layer installed`, async () => {
      const { stdout } = await sandbox.shell.run(`${installed} Backlot`, { check: true, signal })
      await say(stdout.trimEnd())
    })
  }
  await useEditor(steps, sandbox, demo)
  await steps.run('reach a web server in it through a tunnel', () => reachServer(sandbox, signal))
  await stay(viewUrl)
}

/** Opens an editor, types into it, looks at the screen, saves by the menu and reads the file. */
const useEditor = async (steps: Steps, sandbox: Sandbox, { kept, signal }: SandboxDemo): Promise<void> => {
  const home = (await sandbox.shell.run(': >letter.txt; pwd', { check: true, signal })).stdout.trim()
  await steps.run('open an editor', async () => {
    await sandbox.launch('mousepad', { args: [`${home}/letter.txt`], signal })
    const [window] = await sandbox.window.list({ signal })
    expectThat(window?.title.includes('letter.txt') === true, `The front window is "${window?.title ?? 'none'}".`)
  })
  const find = async (role: string, title?: string): Promise<AccessibleElement> => {
    const query = title === undefined ? { role } : { role, title }
    const element = await sandbox.screen.find(query, { timeoutMs: patienceMs, signal })
    if (element === null) throw new Failure('internal', `There is no ${role} ${title ?? ''} in the tree.`)
    return element
  }
  const click = ({ center }: AccessibleElement) => sandbox.mouse.click(center.x, center.y)
  const text = await steps.run('read its accessibility tree', async () => {
    const found = await find('text')
    writeFileSync(join(kept, 'tree.json'), `${JSON.stringify(await sandbox.screen.getTree({ signal }), null, 2)}\n`)
    return found
  })
  await steps.run('click into the text and type', async () => {
    await click(text)
    await sandbox.keyboard.type(words)
    const read = await sandbox.screen.find({ role: 'text', value: words }, { timeoutMs: patienceMs, signal })
    expectThat(read !== null, 'The typed text does not stand in the editor.')
  })
  await steps.run('take a screenshot', async () => {
    const { width, height } = await sandbox.getDimensions({ signal })
    const picture = Buffer.from(await sandbox.screenshot({ path: join(kept, 'screenshot.png'), signal }))
    const size = `${picture.readUInt32BE(16)}x${picture.readUInt32BE(20)}`
    expectThat(size === `${width}x${height}`, `The picture is ${size}, and the screen is ${width}x${height}.`)
  })
  await steps.run('save it by a click in the menu', async () => {
    await click(await find('menu', 'File'))
    await click(await find('menu item', 'Save'))
  })
  await steps.run('read the file with a shell command', async () => {
    const seconds = patienceMs / 1_000
    const wait = `for i in $(seq ${seconds * 20}); do [ -s letter.txt ] && break; sleep 0.05; done; cat letter.txt`
    const { stdout } = await sandbox.shell.run(wait, { check: true, signal })
    expectThat(stdout.trimEnd() === words, `The file holds "${stdout}".`)
  })
}

/** A web server in Perl, which is on every Debian: tells its port, and answers one caller with what it was given. */
const server = `perl -MIO::Socket::INET -e '
  $| = 1;
  my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 0, Listen => 5) or die "$@";
  print $server->sockport, "\\n";
  while (my $caller = $server->accept) {
    while (<$caller>) { last if /^\\r?$/ }
    print $caller "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: ", length $ENV{ANSWER}, "\\r\\n\\r\\n$ENV{ANSWER}";
    close $caller;
  }'`

const reachServer = async (sandbox: Sandbox, signal: AbortSignal): Promise<void> => {
  const answer = crypto.randomUUID()
  await using running = await sandbox.shell.start(server, { env: { ANSWER: answer }, timeoutMs: patienceMs, signal })
  const { value: line = 'nothing' } = await running.lines()[Symbol.asyncIterator]().next()
  const port = Number(line)
  if (!Number.isInteger(port)) throw new Failure('internal', `The web server said "${line}" and no port.`)
  await using tunnel = await sandbox.tunnel.forward(port, { signal })
  const response = await fetch(tunnel.url, { signal })
  const got = await response.text()
  expectThat(got === answer, `The tunnel answered "${got}" and not what the server was given.`)
}

const expectThat = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Failure('internal', otherwise)
}
