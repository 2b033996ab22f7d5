/** What may stand next on the command line, for the completion of shells. */
import { tools } from '@backlot/driver'
import { recipes } from '@backlot/imagebuild'
import type { ProgramName } from './executable.ts'
import { findOperation, type Group, optionsOf } from './host/declared.ts'
import { serviceAt } from './host/service.ts'
import { commandNames, loadCommand } from './registry.ts'

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
  image: [['build', 'ls'], Object.keys(recipes)],
  completion: [['bash', 'zsh', 'fish']],
  demo: [['vm']],
}

const optionsOfGroup = (group: Group, rest: readonly string[], flags: readonly string[]): string[] => {
  const found = findOperation(group, rest)
  if (found === undefined) return [...flags]
  return [...Object.keys(optionsOf(found.declared)), 'url', 'json', 'detach'].map((option) => `--${option}`)
}

const wordsOfGroup = async (group: Group, rest: readonly string[], usage: string): Promise<string[]> => {
  // Every form of the usage begins with its words, in small letters.
  const forms = [...usage.matchAll(new RegExp(`^backlot ${group} ([a-z ]+[a-z])`, 'gm'))].map(([, words = '']) =>
    words.split(' '),
  )
  const next = forms
    .filter((form) => form.length > rest.length && rest.every((word, index) => form[index] === word))
    .flatMap((form) => form[rest.length] ?? [])
  if (next.length > 0) return next
  const found = findOperation(group, rest)
  const [verb = ''] = rest
  const given = rest.filter((word) => !word.startsWith('-')).length
  const takesVm = found?.declared.command.positional[0] === 'name' && found.declared.command.words[0] !== 'create'
  return group === 'vm' && given === 1 && (takesVm || ['console', 'logs'].includes(verb)) ? vmNames() : []
}

/** A shell that asks must not wait for a service that is not there. */
const vmNames = async (): Promise<string[]> => {
  const names = serviceAt()
    .client.listVms()
    .then((vms) => vms.map(({ name }) => name))
    .catch(() => [])
  return Promise.race([names, Bun.sleep(1_000).then(() => [])])
}
