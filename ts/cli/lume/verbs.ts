/** The words of `lume`, as its clients and scripts say them, and the operations that they mean here. */
import { Failure } from '@backlot/contract/failure'
import { isTerminal } from '../terminal/table.ts'

/** What was given after the word. */
export interface VerbArguments {
  readonly positionals: readonly string[]
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
}

/** A word: which `backlot …` it is. */
export interface Verb {
  readonly form: string
  readonly options: Readonly<Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: true }>>
  /** Words of `backlot`, without the program's name. */
  words(given: VerbArguments): string[]
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const many = { type: 'string', multiple: true } as const
const format = { format: { type: 'string', short: 'f' } } as const

/** `--name value` for each option that was given under the first name, under the second. */
const passed = ({ values }: VerbArguments, names: Readonly<Record<string, string>>): string[] =>
  Object.entries(names).flatMap(([theirs, ours]) =>
    [values[theirs] ?? []].flat().flatMap((value) => (value === true ? [`--${ours}`] : [`--${ours}`, String(value)])),
  )

const asked = ({ values }: VerbArguments): string[] => (values.format === 'json' ? ['--json'] : [])

const settings = { cpu: 'cpu', memory: 'memory', 'disk-size': 'disk-size', display: 'display', storage: 'storage' }
const settingOptions = { cpu: text, memory: text, 'disk-size': text, display: text, storage: text }

const inRegistry = { registry: 'registry', organization: 'organization', storage: 'storage' }

/** Every word that stands for one command. */
export const verbs: Readonly<Record<string, Verb>> = {
  ls: {
    form: 'ls [--format json|text] [--storage NAME]',
    options: { ...format, storage: text },
    words: (given) => ['vm', 'ls', ...passed(given, { storage: 'storage' }), ...asked(given)],
  },
  create: {
    form: 'create NAME --os linux [--cpu N] [--memory SIZE] [--disk-size SIZE] [--display WxH] [--storage NAME]',
    options: { ...settingOptions, os: text, ipsw: text, image: text, iso: text, 'no-display': flag },
    words: (given) => [
      ...['vm', 'create', ...given.positionals],
      ...passed(given, { ...settings, os: 'os', ipsw: 'ipsw', iso: 'iso' }),
      // A new VM of lume has an empty disk.
      ...['--image', String(given.values.image ?? 'none')],
    ],
  },
  set: {
    form: 'set NAME [--cpu N] [--memory SIZE] [--disk-size SIZE] [--display WxH]',
    options: settingOptions,
    words: (given) => ['vm', 'set', ...given.positionals, ...passed(given, settings)],
  },
  stop: {
    form: 'stop NAME [--storage NAME]',
    options: { storage: text, force: { type: 'boolean', short: 'f' } },
    words: (given) => ['vm', 'stop', ...given.positionals, ...passed(given, { storage: 'storage' })],
  },
  clone: {
    form: 'clone NAME NEW-NAME [--source-storage NAME] [--dest-storage NAME]',
    options: { 'source-storage': text, 'dest-storage': text },
    words: (given) => [
      ...['vm', 'clone', ...given.positionals],
      ...passed(given, { 'source-storage': 'source-location', 'dest-storage': 'dest-location' }),
    ],
  },
  delete: {
    form: 'delete NAME [--force] [--storage NAME]',
    options: { force: { type: 'boolean', short: 'f' }, storage: text },
    words(given) {
      const [name = ''] = given.positionals
      if (!given.values.force && !(isTerminal() && isSure(name))) {
        throw new Failure('usage', `"${name}" is not deleted: say so with \`lume delete ${name} --force\`.`)
      }
      return ['vm', 'rm', ...given.positionals, ...passed(given, { storage: 'storage' })]
    },
  },
  pull: {
    form: 'pull IMAGE [NAME] [--registry HOST] [--organization NAME] [--storage NAME]',
    options: { registry: text, organization: text, storage: text, 'no-cache': flag },
    words: (given) => {
      const [image = '', name, ...more] = given.positionals
      const named = name === undefined ? [] : ['--name', name]
      return ['vm', 'pull', image, ...more, ...named, ...passed(given, inRegistry)]
    },
  },
  push: {
    form: 'push NAME IMAGE:TAG [--additional-tags TAG]… [--registry HOST] [--organization NAME] [--storage NAME]',
    options: { registry: text, organization: text, storage: text, 'additional-tags': many, 'chunk-size-mb': text },
    words: (given) => {
      const [name = '', image = '', ...more] = given.positionals
      const [imageName = '', tag = 'latest'] = image.split(':')
      return [
        ...['vm', 'push', name, imageName, ...more, '--tag', tag],
        ...passed(given, { ...inRegistry, 'additional-tags': 'tag', 'chunk-size-mb': 'chunk-size-mb' }),
        // The clients of these images read nothing else.
        ...['--compression', 'gzip'],
      ]
    },
  },
  images: {
    form: 'images [--organization NAME]',
    options: { organization: text },
    words: (given) => ['host', 'images', ...passed(given, { organization: 'organization' })],
  },
  prune: { form: 'prune', options: {}, words: () => ['host', 'prune'] },
  ipsw: { form: 'ipsw', options: {}, words: () => ['host', 'ipsw'] },
  config: {
    form: 'config get | storage list|add|remove|default … | cache get|set PATH | caching get|set true|false',
    options: {},
    words({ positionals: [part = 'get', verb = 'get', ...rest] }) {
      const parts: Readonly<Record<string, string[]>> = {
        get: ['host', 'config'],
        storage: ['host', 'config', 'locations', verb === 'get' ? 'list' : verb, ...rest],
        cache: verb === 'set' ? ['host', 'config', 'set', '--cache-directory', ...rest] : ['host', 'config'],
        caching: verb === 'set' ? ['host', 'config', 'set', '--caching-enabled', ...rest] : ['host', 'config'],
      }
      return (Object.hasOwn(parts, part) ? parts[part] : undefined) ?? ['host', 'config', part]
    },
  },
  logs: {
    form: 'logs [info|error|all] [--lines N] [--follow]',
    options: { lines: { type: 'string', short: 'l' }, follow: { type: 'boolean', short: 'f' } },
    words: (given) => [
      ...['host', 'logs', '--type', given.positionals[0] ?? 'all'],
      ...passed(given, { lines: 'lines', follow: 'follow' }),
    ],
  },
  serve: {
    form: 'serve [--port N]',
    options: { port: { type: 'string', short: 'p' } },
    words: (given) => ['serve', ...passed(given, { port: 'port' })],
  },
}

/** Options of `lume run` that words of ours stand for. */
export const runOptions = {
  'no-display': { type: 'boolean', short: 'd' },
  'shared-dir': many,
  'recovery-mode': text,
  storage: text,
  detach: flag,
} as const

/** The words of `backlot` for `lume run`. */
export const runWords = (given: VerbArguments): string[] => [
  ...['vm', 'run', ...given.positionals],
  ...passed(given, { 'no-display': 'no-display', 'shared-dir': 'share', storage: 'storage' }),
  ...(given.values['recovery-mode'] === 'true' ? ['--recovery-mode'] : []),
]

const isSure = (name: string): boolean => /^y(es)?$/i.test(prompt(`Delete the VM "${name}" and its files? [y/N]`) ?? '')
