import { expect, test } from 'bun:test'
import { proving } from '../../../tests/support/proves.ts'
import { BacklotError } from '../errors.ts'
import type { ImageDict } from './dict.ts'
import { Image } from './image.ts'
import type { BuildStep } from './layer.ts'
import { methodOf, stepKinds } from './layers.ts'

const refusal = (act: () => unknown): [string, string] => {
  try {
    act()
  } catch (error) {
    if (BacklotError.is(error)) return [error.code, error.message]
    throw error
  }
  throw new Error('nothing was refused')
}

test(
  'builders give the defaults that the specification names',
  proving(
    [
      'sandbox.image.os-type',
      'sandbox.image.distro',
      'sandbox.image.version',
      'sandbox.image.kind',
      'sandbox.image.linux',
    ],
    () => {
      const { osType, distro, version, kind } = Image.linux()
      expect([osType, distro, version, kind]).toEqual(['linux', 'ubuntu', '24.04', 'container'])
      expect(Image.linux({ kind: 'vm' }).kind).toBe('vm')
      expect(Image.linux('ubuntu', '22.04', 'vm').version).toBe('22.04')
      expect(Image.fromRegistry('a/b:1').kind).toBeNull()
    },
  ),
)

test(
  'systems that are always a VM are one, and macOS knows its versions by both names',
  proving(['sandbox.image.macos', 'sandbox.image.windows', 'sandbox.image.android', 'sandbox.image.desktop'], () => {
    const of = ({ osType, version, kind }: Image) => [osType, version, kind]
    expect(of(Image.macos())).toEqual(['macos', '26', 'vm'])
    for (const version of ['15', 'sequoia', '26', 'tahoe'])
      expect(of(Image.macos(version))).toEqual(['macos', version, 'vm'])
    expect(of(Image.windows())).toEqual(['windows', '11', 'vm'])
    expect(of(Image.android())).toEqual(['android', '14', 'vm'])
    expect(of(Image.desktop())).toEqual(['linux', '24.04', null])
    expect(Image.desktop('debian').distro).toBe('debian')
    expect(refusal(() => Image.macos('99'))).toEqual([
      'invalid_argument',
      `Unsupported macOS version '99'. Supported: "15", "sequoia", "26", "tahoe"`,
    ])
  }),
)

test(
  'a file is a Windows VM unless it is said to be another, and other words are refused',
  proving(['sandbox.image.from-file', 'sandbox.image.from-file.values'], () => {
    const { osType, kind } = Image.fromFile('disk.qcow2')
    expect([osType, kind]).toEqual(['windows', 'vm'])
    for (const osType of ['linux', 'windows', 'macos', 'android'] as const)
      expect(Image.fromFile('disk.qcow2', { osType, kind: 'container' }).osType).toBe(osType)
    expect(refusal(() => Image.fromFile('d', { osType: 'beos' as 'linux' }))).toEqual([
      'invalid_argument',
      '"osType" must be "linux" or "macos" or "windows" or "android", not "beos".',
    ])
    expect(refusal(() => Image.fromFile('d', { kind: 'jail' as 'vm' }))[1]).toContain('"kind" must be "vm"')
    expect(refusal(() => Image.fromFile(''))[1]).toContain('"path"')
    expect(Image.fromFile('d', { agentType: 'osworld' }).toDict().agent_type).toBe('osworld')
  }),
)

test(
  'every method gives a new image and leaves the old one as it was, to whoever holds it',
  proving(['sandbox.image.immutable'], () => {
    const methods: readonly ((image: Image) => Image)[] = [
      (image) => image.aptInstall('a'),
      (image) => image.uvInstall('a'),
      (image) => image.pipInstall('a'),
      (image) => image.run('a'),
      (image) => image.env({ A: '1' }),
      (image) => image.copy('a', '/b'),
      (image) => image.expose(1),
    ]
    let image = Image.linux()
    for (const method of methods) {
      const before = image.toDict()
      const next = method(image)
      expect(next).not.toBe(image)
      expect(next.toDict()).not.toEqual(before)
      expect(image.toDict()).toEqual(before)
      image = next
    }
    const before = image.toDict()
    ;(image.toDict().layers as unknown[]).push('more')
    expect(image.toDict()).toEqual(before)
    expect(() => Object.assign(image, { distro: 'other' })).toThrow(TypeError)
    const variables = { A: '1' }
    const held = Image.linux().env(variables)
    variables.A = '2'
    expect(held.toDict().env).toEqual({ A: '1' })
  }),
)

test(
  'a layer stands on the systems that have its package manager, and elsewhere it is refused by name',
  proving(['sandbox.image.pwa-install.defaults'], () => {
    const systems = { linux: Image.linux(), macos: Image.macos(), windows: Image.windows(), android: Image.android() }
    const where = { aptInstall: 'linux', brewInstall: 'macos', chocoInstall: 'windows', wingetInstall: 'windows' }
    for (const [method, os] of Object.entries({ ...where, apkInstall: 'android', pwaInstall: 'android' })) {
      const type = method.replace('Install', '_install')
      for (const [name, image] of Object.entries(systems)) {
        const add = () => (image as unknown as Record<string, (word: string) => Image>)[method]?.('https://a/b')
        if (name === os) expect(add()?.toDict().layers).toHaveLength(1)
        else {
          const text = `${type} is not supported on '${name}' images. Supported OS types: ${os}`
          expect(refusal(add)).toEqual(['layer_not_for_os', text])
        }
      }
    }
    const [app] = Image.android().pwaInstall('https://a/b').toDict().layers
    expect(app).toMatchObject({ keystore_alias: 'android', keystore_password: 'android' })
  }),
)

test('each kind of step has the method that its name says', () => {
  const methods = (Object.keys(stepKinds) as BuildStep['type'][]).map(methodOf)
  expect(methods.filter((method) => typeof Image.prototype[method as keyof Image] !== 'function')).toEqual([])
})

test('arguments that nothing can be made of are refused by name', () => {
  const linux = Image.linux()
  const cases: readonly (readonly [() => unknown, string])[] = [
    [() => linux.aptInstall(), 'aptInstall: "packages" must be a list of names'],
    [() => linux.pipInstall('-r', 'list.txt'), '"packages" must be a list of names, none of which begins with "-"'],
    [() => linux.run(''), 'run: "command" must be a text, not ""'],
    [() => linux.run('a\0b'), 'run: "command"'],
    [() => linux.run('\ud800'), 'run: "command"'],
    [() => linux.env({ 'a-b': '1' }), 'env: "variables"'],
    [() => linux.env({ A: 1 as unknown as string }), 'env: "variables"'],
    [() => Image.windows().env({ A: '' }), '"A" is empty, which no variable is on Windows'],
    [() => linux.copy('a', 'b'), 'copy: "dst" must be an absolute path, not "b"'],
    [() => Image.windows().copy('a', 'b'), '"dst" must be an absolute path'],
    [() => linux.expose(0), '"port" must be a port from 1 to 65535, not 0'],
    [() => linux.expose(1.5), '"port"'],
    [() => Image.linux({ kind: 'jail' as 'vm' }), '"kind"'],
    [() => Image.linux({ distro: '' }), '"distro"'],
    [() => Image.fromRegistry(''), '"ref"'],
    [() => Image.android().pwaInstall('ftp://a'), '"manifest_url" must be an http or https address, not "ftp://a"'],
  ]
  for (const [act, text] of cases) {
    const [code, message] = refusal(act)
    expect([text, code]).toEqual([text, 'invalid_argument'])
    expect(message).toContain(text)
  }
  expect(Image.windows().copy('a', 'C:\\b').toDict().files).toEqual([['a', 'C:\\b']])
})

test('a dictionary that is wrong is refused with the field that is', () => {
  const { distro: _, ...withoutDistro } = Image.linux().toDict()
  const cases: readonly (readonly [unknown, string])[] = [
    [withoutDistro, '"distro" is missing'],
    [null, 'must be an object, not null'],
    [[], 'must be an object'],
    [{ os_type: 'beos' }, '"os_type" must be "linux"'],
    [{ kind: 'jail' }, '"kind" must be "vm" or "container" or null, not "jail"'],
    [{ colour: 'red' }, 'there is no field "colour"'],
    [{ distro: () => 1 }, '"distro" must be a text'],
    [{ version: 12 }, '"version" must be a text, not 12'],
    [{ layers: {} }, '"layers" must be a list'],
    [{ layers: [{}] }, '"layers[0].type" must be one of apt_install, '],
    [{ layers: [{ type: 'toString' }] }, '"layers[0].type"'],
    [{ layers: ['run'] }, '"layers[0].type"'],
    [{ layers: [{ type: 'env', variables: {} }] }, '"layers[0].type" cannot be "env"'],
    [{ layers: [{ type: 'run', command: 'a', shell: 'b' }] }, 'there is no field "layers[0].shell"'],
    [{ layers: [{ type: 'apt_install' }] }, '"layers[0].packages" is missing'],
    [{ env: [] }, '"env" must be an object'],
    [{ env: { 'a b': '1' } }, 'env: "variables"'],
    [{ ports: [70_000] }, '"ports" must be a list, each a port from 1 to 65535'],
    [{ files: [['a']] }, '"files" must be a list, each a pair [src, dst]'],
    [{ distro: 'macos', version: '99' }, `Unsupported macOS version '99'`],
    [{ steps: [{ type: 'env', variables: {}, after: 1 }] }, '"steps[0].after" must be a number of layers, not 1'],
    [{ steps: [{ type: 'run', command: 'a', after: 0 }] }, '"steps[0].type" must be "env" or "copy", not "run"'],
    [{ env: { A: '1' }, steps: [] }, '"env" does not hold what the "env" in "steps" come to'],
    [{ files: [['a', '/b']], steps: [] }, '"files" does not hold'],
  ]
  for (const [wrong, text] of cases) {
    const isWhole = wrong === withoutDistro || wrong === null || Array.isArray(wrong)
    const data = isWhole ? wrong : { ...Image.linux().toDict(), ...(wrong as object) }
    const [code, message] = refusal(() => Image.fromDict(data as ImageDict))
    expect([text, code]).toEqual([text, 'invalid_argument'])
    expect(message).toContain(text)
  }
  const onWindows = { ...Image.windows().toDict(), layers: [{ type: 'apt_install', packages: ['a'] }] } as ImageDict
  expect(refusal(() => Image.fromDict(onWindows))[0]).toBe('layer_not_for_os')
})

test('what clients may leave out of a dictionary is empty', () => {
  const { distro, version, os_type } = Image.linux().toDict()
  const short = { os_type, distro, version } as ImageDict
  expect(Image.fromDict(short).toDict()).toEqual({ ...short, kind: null, layers: [] })
})

test('a name of every object is a variable like others', () => {
  const image = Image.linux().env(JSON.parse('{"__proto__": "1"}') as Record<string, string>)
  expect(JSON.stringify(image.toDict().env)).toBe('{"__proto__":"1"}')
})
