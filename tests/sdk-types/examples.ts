/** The twelve programs that a user writes first; each stands alone. */

import {
  BacklotError,
  type Computer,
  type CreateOptions,
  configure,
  Image,
  runtimes,
  Sandbox,
  WarmPool,
} from '@backlot/sdk'

/** 1. A desktop that is gone when the block ends. */
export async function ephemeralDesktop() {
  await using sandbox = await Sandbox.ephemeral(Image.desktop())
  await sandbox.launch('mousepad')
  await sandbox.keyboard.type('Grüße, 世界 😀')
  await sandbox.keyboard.keypress(['ctrl', 'a'])
  await sandbox.keyboard.keypress(['ctrl', 'c'])
  console.log(await sandbox.clipboard.get())
  await sandbox.screenshot({ path: 'desktop.png' })
  const { stdout } = await sandbox.shell.run('uname -sr')
  console.log(stdout)
}

/** 2. Come back to a sandbox that another program created, and leave it running. */
export async function connect() {
  for await (const { name, status, source } of Sandbox.list({ labels: { team: 'research' } })) {
    console.log(name, status, source)
  }
  await using sandbox = await Sandbox.connect('research-1')
  console.log(await sandbox.window.getActiveTitle(), await sandbox.getDisplayUrl({ viewOnly: true }))
}

/** 3. An image of one's own: built once, cached, and used as often as wanted. */
export async function imageWithLayers() {
  const image = Image.linux({ distro: 'debian', version: '12' })
    .aptInstall('ffmpeg', 'python3-venv')
    .uvInstall('pandas', 'matplotlib')
    .copy('./report.py', '/opt/report.py')
    .env({ TZ: 'UTC' })
    .run('useradd --create-home analyst')

  const sandbox = await Sandbox.create(image, {
    name: 'analyst',
    cpu: 2,
    memoryMb: 4096,
    ttlMs: 60 * 60_000,
    onProgress: (progress) => {
      if (progress.phase === 'layer')
        console.log(`layer ${progress.index + 1} of ${progress.count}: ${progress.layer.type}`)
    },
  })
  await sandbox.disconnect() // it stays, for an hour
}

/** 4. Files in, work, files out. */
export async function filesInAndOut() {
  await using sandbox = await Sandbox.ephemeral(Image.desktop())
  await sandbox.files.upload('./invoices', '/data/invoices') // a folder
  await sandbox.files.write(
    '/data/total.sh',
    "cat invoices/*.csv | awk -F, '{ sum += $2 } END { print sum }' > total.txt",
  )
  await sandbox.shell.run('sh total.sh', { cwd: '/data', check: true })
  console.log(await sandbox.files.readText('/data/total.txt'))
  await sandbox.files.download('/data', './work')
}

/** 5. A long command, its output as it comes, and an end to it. */
export async function streamLongCommand() {
  await using sandbox = await Sandbox.ephemeral(Image.desktop().aptInstall('build-essential').copy('./project', '/src'))
  await using build = await sandbox.shell.start('make -j2', { cwd: '/src', timeoutMs: 30 * 60_000 })
  for await (const line of build.lines()) {
    console.log(line)
    if (line.includes('error:')) await build.kill()
  }
  const { exitCode } = await build.wait()
  console.log(`ended with ${exitCode}`)
}

/** 6. A terminal that is talked to. */
export async function terminal() {
  await using sandbox = await Sandbox.connect('research-1')
  await using terminal = await sandbox.terminal.create({ cols: 120, rows: 40 })
  await terminal.sendInput('python3\n')
  await terminal.waitFor('>>> ')
  await terminal.sendInput('6 * 7\n')
  console.log(await terminal.waitFor('42'))
}

/** 7. A web server inside, reached from here. */
export async function tunnelToWebServer() {
  await using sandbox = await Sandbox.ephemeral(Image.desktop())
  await using server = await sandbox.shell.start('python3 -m http.server 8080', { cwd: '/usr/share/doc' })
  await using tunnel = await sandbox.tunnel.forward(8080, { wait: true })
  const response = await fetch(`${tunnel.url}/bash/`)
  console.log(response.status, 'from process', server.pid)
}

/** 8. Four copies of a running desktop: each tries something else, and the best one stays. */
export async function forkAndPick(attempt: (computer: Computer, plan: string) => Promise<number>) {
  await using sandbox = await Sandbox.ephemeral(Image.desktop(), { runtime: 'qemu' })
  await sandbox.open('https://shop.example/cart')

  const plans = ['coupon', 'bundle', 'subscription', 'as it is']
  await using forks = await sandbox.fork(plans.length)
  const tries = await Promise.all(forks.map(async (fork, i) => ({ fork, score: await attempt(fork, plans[i] ?? '') })))
  const [best] = tries.sort((a, b) => b.score - a.score)
  await best?.fork.keep() // the others end here
  return best?.fork.name
}

/** 9. A film of what was done. */
export async function recordFilm() {
  await using sandbox = await Sandbox.ephemeral(Image.desktop())
  await using film = await sandbox.film.start({ framesPerSecond: 15 })
  await sandbox.open('https://example.com')
  const link = await sandbox.screen.find({ role: 'link', title: /more information/i })
  if (link) await sandbox.mouse.click(link.center.x, link.center.y)
  await film.saveAs('take.mp4')
}

/** 10. An Android device. */
export async function androidDevice() {
  await using sandbox = await Sandbox.ephemeral(Image.android().apkInstall('./app-debug.apk'), { memoryMb: 4096 })
  const { mobile } = sandbox
  await sandbox.launch('com.example.app')
  await mobile.tap(540, 1200)
  await mobile.typeText('hello')
  await mobile.swipe(540, 1800, 540, 600, { durationMs: 250 })
  await mobile.gesture([400, 900], [200, 900], [680, 900], [880, 900], { durationMs: 500 }) // two fingers apart
  await mobile.home()
  await using inspector = await sandbox.tunnel.forward('chrome_devtools_remote')
  console.log(inspector.url)
}

/** 11. The same program elsewhere: one option. */
export async function runElsewhere() {
  const places = {
    'Docker or Podman here': { runtime: 'container' },
    'the current Kubernetes cluster': { runtime: 'kubernetes' },
    'its namespace `agents`': { runtime: runtimes.kubernetes({ namespace: 'agents' }) },
    'the VM host of another machine': {
      runtime: runtimes.vmhost({ url: 'https://big-box:7777', token: secret('BIG_BOX_TOKEN') }),
    },
    'the cloud': { runtime: 'cloud', region: 'eu-central-1' },
  } satisfies Record<string, CreateOptions>

  for (const [place, options] of Object.entries(places)) {
    await using sandbox = await Sandbox.ephemeral(Image.desktop(), options)
    console.log(place, (await sandbox.shell.run('hostname')).stdout)
  }

  // A computer server that is there already:
  await using lab = await Sandbox.connect('lab', { httpUrl: 'https://lab.example:8000', apiKey: secret('LAB_KEY') })
  await lab.screenshot({ format: 'jpeg', quality: 80, path: 'lab.jpg' })

  // For the whole program, and with desktops that wait:
  configure({ runtime: 'kubernetes' })
  const pool = await WarmPool.apply(Image.desktop(), { name: 'desktops', size: 8 })
  await using sandbox = await pool.claim()
  await sandbox.open('https://example.com')
}

/** 12. What can go wrong, told apart by `code`. */
export async function errorHandling(signal: AbortSignal) {
  try {
    await using sandbox = await Sandbox.connect('research-1', { signal, timeoutMs: 5_000 })
    await sandbox.shell.run('npm test', { check: true, timeoutMs: 10 * 60_000, signal })
  } catch (error) {
    if (!BacklotError.is(error)) throw error // not ours, or `signal` said stop
    switch (error.code) {
      case 'sandbox_not_found':
        return Sandbox.create(Image.desktop(), { name: 'research-1' })
      case 'sandbox_not_running':
        return Sandbox.resume('research-1')
      case 'command_failed':
        return console.error(`npm test ended with ${error.exitCode}:`, error.stderr)
      case 'command_timeout':
        return console.error('npm test took too long:', error.output?.stdout)
      case 'unsupported':
        return console.error(error.reason)
      default:
        throw error // its message names the next step
    }
  }
}

function secret(name: string): string {
  return process.env[name] ?? ''
}
