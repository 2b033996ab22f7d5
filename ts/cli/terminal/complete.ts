/** What may stand next on the command line, for the completion of shells. */
import { type Endpoint, inputFields } from '@backlot/contract/endpoint'
import { tools } from '@backlot/driver'
import { recipes } from '@backlot/imagebuild'
import type { ProgramName } from '../executable.ts'
import { findOperation, type Group, optionName, optionsOf, placeNamed } from '../host/declared.ts'
import { type Service, serviceAt } from '../host/service.ts'
import { commandNames, loadCommand } from '../registry.ts'

/** The words that may stand in the place of the last of `words`, which may be empty or begun. */
export const candidates = async (program: ProgramName, words: readonly string[]): Promise<string[]> => {
  const before = words.slice(0, -1)
  const begun = words.at(-1) ?? ''
  const all = before.length === 0 ? first(program) : await later(program, before, begun)
  return [...new Set(all)].filter((word) => word.startsWith(begun)).sort()
}

const first = (program: ProgramName): string[] => [...commandNames(program), ...tools.map(({ name }) => name)]

const later = async (
  program: ProgramName,
  [name = '', ...rest]: readonly string[],
  begun: string,
): Promise<string[]> => {
  const command = await loadCommand(program, name)
  if (command === undefined) return []
  // A usage names every flag of its command.
  const flags = [...command.usage.matchAll(/--[a-z][a-z-]*/g)].map(([flag]) => flag)
  const isGroup = name === 'vm' || name === 'host'
  if (begun.startsWith('-')) return isGroup ? optionsOfGroup(name, rest, flags) : flags
  if (isGroup) return wordsOfGroup(name, rest, command.usage)
  return Object.hasOwn(places, name) ? (places[name]?.[rest.length] ?? []) : []
}

/** Words by place, of commands that are not read off operations. */
const places: Readonly<Record<string, string[][]>> = {
  sandbox: [['list', 'info', 'suspend', 'resume', 'restart', 'delete', 'logs']],
  image: [['build', 'inspect', 'ls', 'prune', 'pull', 'push', 'rm'], Object.keys(recipes)],
  completion: [['bash', 'zsh', 'fish']],
  demo: [['driver', 'vm', 'computer']],
}

const optionsOfGroup = (group: Group, rest: readonly string[], flags: readonly string[]): string[] => {
  const found = findOperation(group, rest)
  if (found === undefined) return [...flags]
  return [...Object.keys(optionsOf(found.declared)), 'url', 'json', 'detach'].map((option) => `--${option}`)
}

/** What the words after the group say so far: those that are no options and no values of them, and an option that waits. */
const spokenSoFar = (group: Group, rest: readonly string[]): { plain: string[]; waiting: string | undefined } => {
  const found = findOperation(group, rest)
  const options: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>> = {
    ...(found !== undefined && optionsOf(found.declared)),
    url: { type: 'string' },
    storage: { type: 'string' },
  }
  const plain: string[] = []
  let waiting: string | undefined
  for (const word of rest) {
    const name = word.startsWith('--') && !word.includes('=') ? word.slice(2) : ''
    if (waiting !== undefined) waiting = undefined
    else if (!word.startsWith('-')) plain.push(word)
    else if (Object.hasOwn(options, name) && options[name]?.type === 'string') waiting = name
  }
  return { plain, waiting }
}

const wordsOfGroup = async (group: Group, rest: readonly string[], usage: string): Promise<string[]> => {
  const found = findOperation(group, rest)
  const { plain, waiting } = spokenSoFar(group, rest)
  if (waiting !== undefined) return valuesOf(waiting, found?.declared)
  // Every form of the usage begins with its words, in small letters.
  const forms = [...usage.matchAll(new RegExp(`^backlot ${group} ([a-z ]+[a-z])`, 'gm'))].map(([, words = '']) =>
    words.split(' '),
  )
  const next = forms
    .filter((form) => form.length > plain.length && plain.every((word, index) => form[index] === word))
    .flatMap((form) => form[plain.length] ?? [])
  if (next.length > 0) return next
  const [verb = ''] = plain
  const takesVm = found?.declared.command.positional[0] === 'name' && found.declared.command.words[0] !== 'create'
  if (group === 'vm' && plain.length === 1 && (takesVm || ['console', 'logs', 'cp', 'shell'].includes(verb))) {
    return names(({ client }) => client.listVms(storageIn(rest)))
  }
  const takesLocation = found?.declared.path.startsWith('/config/locations/') && plain.length === 3
  return group === 'host' && takesLocation ? names(({ client }) => client.listLocations()) : []
}

const storageIn = (rest: readonly string[]) => {
  const value = rest[rest.indexOf('--storage') + 1]
  return rest.includes('--storage') && value !== undefined ? { storage: placeNamed(value) } : {}
}

/** Values of an option; none where only the person knows, or where they are files. */
const valuesOf = (option: string, declared: Endpoint | undefined): string[] | Promise<string[]> => {
  if (/^(storage|source-location|dest-location)$/.test(option)) return names(({ client }) => client.listLocations())
  const fields = declared === undefined ? [] : inputFields(declared)
  const field = fields.find(({ name }) => optionName(name) === option)
  return Array.isArray(field?.schema.enum) ? field.schema.enum.map(String) : []
}

/** A shell that asks must not wait for a service that is not there. */
const names = async (ask: (service: Service) => Promise<{ readonly name: string }[]>): Promise<string[]> => {
  const found = Promise.resolve()
    .then(() => ask(serviceAt()))
    .then((each) => each.map(({ name }) => name))
    .catch(() => [])
  return Promise.race([found, Bun.sleep(1_000).then(() => [])])
}
