import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BacklotError, HTTPTransport, Image, type Layer, LayerError, LayerExecutor } from '@backlot/sdk'
import { buildImage } from '../../ts/sdk/build/build-image.ts'
import { hostileTexts } from '../support/hostile-texts.ts'
import { proving } from '../support/proves.ts'
import { scratchFolder } from '../support/scratch.ts'
import { startThrowAwayComputer, type ThrowAwayComputer } from '../support/throw-away-computer.ts'

const minutes = 60_000
const key = 'a-key-for-layers'
let computer: ThrowAwayComputer
let executor: LayerExecutor

beforeAll(async () => {
  // The Python of the system, which takes no packages beside its own, with the pip that Debian's `venv` brings.
  const [pip = ''] = [...new Bun.Glob('pip-*.whl').scanSync({ cwd: '/usr/share/python-wheels', absolute: true })]
  const system = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', PYTHONPATH: pip }
  computer = await startThrowAwayComputer({ BACKLOT_COMPUTER_KEY: key, ...system })
  executor = new LayerExecutor(computer.url, { apiKey: key })
}, minutes)

afterAll(() => computer[Symbol.asyncDispose]())

const run = (command: string): Layer => ({ type: 'run', command })
const printed = async (command: string) => (await executor.runCommand(command)).stdout

const failureOf = async (work: Promise<unknown>): Promise<BacklotError> => {
  try {
    await work
  } catch (error) {
    if (BacklotError.is(error)) return error
    throw error
  }
  throw new Error('nothing failed')
}

test(
  'a command gives both outputs and its code, and ends with its time',
  proving(['sandbox.layers.constructor', 'sandbox.layers.run-command'], async () => {
    const result = await executor.runCommand('echo out; echo err >&2; exit 7')
    expect(result).toEqual({ stdout: 'out\n', stderr: 'err\n', exitCode: 7 })
    const late = await failureOf(executor.runCommand('echo begun; sleep 60', { timeoutMs: 700 }))
    expect(late).toMatchObject({ code: 'command_timeout', output: { stdout: 'begun\n', stderr: '' } })
    expect(await failureOf(new LayerExecutor(computer.url).runCommand('true'))).toMatchObject({ code: 'unauthorized' })
  }),
)

test(
  'a layer gives its result, and layers theirs one after the other',
  proving(['sandbox.layers.execute-layer', 'sandbox.layers.execute-layers'], async () => {
    const one = await executor.executeLayer(run('cd /srv; echo one | tee order; export LEFT=1'))
    expect(one).toEqual({ stdout: 'one\n', stderr: '', exitCode: 0 })
    const results = await executor.executeLayers([
      run('sleep 0.1; echo "two$LEFT $PWD" >> /srv/order; echo 2'),
      run('echo three >> /srv/order; echo 3 >&2'),
    ])
    expect(results.map(({ stdout, stderr }) => [stdout, stderr])).toEqual([
      ['2\n', ''],
      ['', '3\n'],
    ])
    expect(await printed('cat /srv/order')).toMatch(/^one\ntwo \S+\nthree\n$/)
    for (const text of Object.values(hostileTexts).filter(Boolean)) {
      const { stdout } = await executor.executeLayer(run(`printf '%s' '${text.replaceAll("'", "'\\''")}'`))
      expect(stdout).toBe(text)
    }
  }),
)

test(
  'the first layer that fails ends it, with its place and its output',
  proving(['sandbox.errors.first-layer', 'sandbox.layers.execute-layers'], async () => {
    const layers = [run('echo one > /srv/first'), run('echo out; echo why >&2; exit 3'), run('touch /srv/never')]
    const error = await failureOf(executor.executeLayers(layers))
    expect(error).toBeInstanceOf(LayerError)
    expect(error).toMatchObject({
      code: 'layer_failed',
      message: 'Layer 2 (run) ended with 3: why. "result" holds its output.',
      index: 1,
      layer: layers[1],
      result: { stdout: 'out\n', stderr: 'why\n', exitCode: 3 },
    })
    expect(await printed('ls /srv/first /srv/never 2>/dev/null')).toBe('/srv/first\n')
  }),
)

test('a layer that takes too long is ended and fails with what it had written', async () => {
  const error = await failureOf(
    executor.executeLayers([run('echo begun; sleep 61; touch /srv/late')], { timeoutMs: 700 }),
  )
  expect(error).toMatchObject({ code: 'layer_failed', index: 0, result: { stdout: 'begun\n', exitCode: 137 } })
  expect(error.message).toBe(
    'Layer 1 (run) took longer than 700 ms; allow more with "timeoutMs". "result" holds its output.',
  )
  expect(await printed('pgrep -x sleep -a | grep -c " 61"')).toBe('0\n')
})

test(
  'a layer has ten minutes unless it is given others',
  proving(['sandbox.limits.layer-timeout'], async () => {
    const seconds: unknown[] = []
    // Stands between and looks at what is asked of the server.
    await using between = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { pathname } = new URL(request.url)
        const body = request.method === 'POST' ? await request.text() : null
        if (body !== null) seconds.push((JSON.parse(body) as { params: { timeout: number } }).params.timeout)
        const headers = new Headers(request.headers)
        headers.delete('host')
        return fetch(computer.url + pathname, { method: request.method, headers, body })
      },
    })
    const url = between.url.href.replace(/\/$/, '')
    const usual = new LayerExecutor(url, { apiKey: key })
    await usual.executeLayer(run('true'))
    await usual.executeLayer(run('true'), { timeoutMs: 5_000 })
    await new LayerExecutor(url, { apiKey: key, timeoutMs: 7_000 }).runCommand('true')
    expect(seconds).toEqual([600, 5, 7])
  }),
)

test('a cancelled build throws the reason, and its command ends', async () => {
  const ending = new AbortController()
  const work = executor.executeLayer(run('mkfifo /srv/pipe; echo $$ > /srv/pid; cat /srv/pipe'), {
    signal: ending.signal,
  })
  await expect(Promise.race([work, printed('until [ -s /srv/pid ]; do sleep 0.05; done; echo begun')])).resolves.toBe(
    'begun\n',
  )
  ending.abort(new Error('enough'))
  await expect(work).rejects.toThrow('enough')
  expect(await printed('while kill -0 "$(cat /srv/pid)" 2>/dev/null; do sleep 0.05; done; echo gone')).toBe('gone\n')
})

test('layers that cannot be run at all are refused before any runs', async () => {
  const first = run('touch /srv/too-early')
  const wrong: readonly (readonly [unknown, string, string])[] = [
    [{ type: 'brew_install', packages: ['a'] }, 'layer_not_for_os', "not supported on 'linux' images"],
    [{ type: 'apk_install', packages: ['a'] }, 'layer_not_for_os', "not supported on 'linux' images"],
    [{ type: 'dance' }, 'invalid_argument', '"layers[1].type" must be one of'],
    [{ type: 'run' }, 'invalid_argument', '"layers[1].command" is missing'],
  ]
  for (const [layer, code, text] of wrong) {
    const error = await failureOf(executor.executeLayers([first, layer as Layer]))
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(text)])
  }
  expect(await printed('ls /srv/too-early 2>&1')).toContain('No such file')
})

test(
  'Python packages come from their registry, with pip beside the system and with uv into an environment on PATH',
  proving(['sandbox.image.pip-install'], async () => {
    expect(await printed('ls /usr/lib/python3*/EXTERNALLY-MANAGED')).not.toBe('')
    await executor.executeLayer({ type: 'pip_install', packages: ['iniconfig==2.0.0'] })
    const seen = 'python3 -c "import iniconfig; print(iniconfig.__file__)"'
    expect(await printed(seen)).toMatch(/^\/usr\/local\/lib\/python3[.\d]*\/dist-packages\/iniconfig\/__init__\.py\n$/)
    const [, , result] = await executor.executeLayers([
      { type: 'uv_install', packages: ['cowsay>=6,<7', 'toolz'] },
      { type: 'pip_install', packages: ['purl'] },
      run(
        'command -v python3; command -v cowsay; python3 -c "import cowsay, toolz, purl, iniconfig; print(purl.__file__)"',
      ),
    ])
    expect(result?.stdout.trim().split('\n')).toEqual([
      '/opt/backlot/python/bin/python3',
      '/opt/backlot/python/bin/cowsay',
      expect.stringMatching(/^\/opt\/backlot\/python\/lib\/python3[.\d]*\/site-packages\/purl\/__init__\.py$/),
    ])
    expect(await printed(`env -i sh -lc 'command -v cowsay'; grep ^PATH= /etc/environment`)).toMatch(
      /^\/opt\/backlot\/python\/bin\/cowsay\nPATH=\/opt\/backlot\/python\/bin:.*\n$/,
    )
  }),
  4 * minutes,
)

test(
  'a whole image is built with its variables and files at their places',
  proving(['sandbox.image.env', 'sandbox.image.copy'], async () => {
    const source = join(scratchFolder('build'), "it's here")
    mkdirSync(join(source, 'sub'), { recursive: true })
    writeFileSync(join(source, 'sub', 'program'), '#!/bin/sh\necho "$A-$B"\n')
    chmodSync(join(source, 'sub', 'program'), 0o750)
    const image = Image.linux()
      .run('! ls /srv/one')
      .env({ A: hostileTexts.QUOTES ?? '' })
      .copy(source, '/srv/one/two')
      .run('/srv/one/two/sub/program > /srv/early')
      .env({ B: 'b' })
      .copy(join(source, 'sub', 'program'), '/srv/bin/')
      .copy(`${source}/sub/..`, '/srv/above')
      .run('/srv/bin/program > /srv/late')
    const seen: string[] = []
    await using transport = new HTTPTransport(computer.url, { apiKey: key })
    await buildImage(transport, image, {
      onLayer: ({ index, count, layer }) => seen.push(`${index}/${count} ${layer.type}`),
    })
    expect(seen).toEqual(['0/3 run', '1/3 run', '2/3 run'])
    expect(
      await printed(
        'cat /srv/early /srv/late; stat -c "%a %U" /srv/one/two/sub/program /srv/bin/program; ls /srv/above',
      ),
    ).toBe(`${hostileTexts.QUOTES}-\n${hostileTexts.QUOTES}-b\n750 root\n750 root\nsub\n`)
    expect(await printed('ls /tmp | grep -c ^backlot-copy')).toBe('0\n')
    const missing = Image.linux().copy(join(source, 'missing'), '/srv/missing').run('touch /srv/after')
    expect(await failureOf(buildImage(transport, missing))).toMatchObject({ code: 'file_not_found' })
    expect(await printed('ls /srv/after 2>&1')).toContain('No such file')
  }),
)

test('what may not be set is said, with the way out', async () => {
  const ro = 'mount --bind /etc /etc && mount -o remount,bind,ro /etc'
  expect((await executor.runCommand(ro)).exitCode).toBe(0)
  await using transport = new HTTPTransport(computer.url, { apiKey: key })
  for (const image of [Image.linux().env({ A: '1' }), Image.linux().copy(import.meta.path, '/etc/here')]) {
    const error = await failureOf(buildImage(transport, image.run('touch /srv/went-on')))
    expect(error.code).toBe('command_failed')
    expect(error.message).toMatch(
      /^(The variables are not set|".*" is not copied to "\/etc\/here"): .*Read-only file system/,
    )
    expect(error.message).toEndWith('Let the server run as the administrator, or its user use sudo without a password.')
  }
  expect(await printed('umount /etc; ls /srv/went-on 2>&1')).toContain('No such file')
})

test(
  'Debian packages are installed, and one that there is not is named',
  proving(['sandbox.image.apt-install'], async () => {
    expect(await printed('command -v hello')).toBe('')
    await executor.executeLayer({ type: 'apt_install', packages: ['hello'] })
    expect(await printed('hello')).toBe('Hello, world!\n')
    const wrong = await failureOf(executor.executeLayer({ type: 'apt_install', packages: ['no-such-package;$(id)'] }))
    expect(wrong).toMatchObject({ code: 'layer_failed', result: { exitCode: 100 } })
    expect(wrong.message).toContain('no-such-package;$(id)')
  }),
  2 * minutes,
)
