/** The pages of docs/reference, read off the declarations; each is finished Markdown. */
import { computer } from '@backlot/contract/computer'
import type { Command } from '@backlot/contract/computer/command'
import { type Endpoint, inputFields } from '@backlot/contract/endpoint'
import { failures } from '@backlot/contract/failure'
import { vmHost } from '@backlot/contract/vmhost'
import { describeTool, type Tool, tools } from '@backlot/driver'

/** The pages by file name. */
export const referencePages = (): Readonly<Record<string, string>> => ({
  'tools.md': toolsPage(tools),
  'failures.md': failuresPage(),
  'vmhost.md': vmHostPage(),
  'computer.md': computerPage(),
})

const page = (title: string, ...blocks: string[]): string => `${[`# ${title}`, ...blocks].join('\n\n')}\n`

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))].map((row) => `| ${row.join(' | ')} |`).join('\n')

const code = (text: string): string => `\`${text}\``

/** The parts of a JSON Schema that the pages tell. */
interface Schema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
}

function typeOf({ type, enum: values, items, minimum, maximum, properties, anyOf }: Schema): string {
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ')
  if (values !== undefined) return values.map(code).join(', ')
  if (type === 'array' && items !== undefined) return `array of ${typeOf(items)}`
  if (properties !== undefined) return `{ ${Object.keys(properties).join(', ')} }`
  if (minimum !== undefined && maximum !== undefined) return `${type}, ${minimum} to ${maximum}`
  return minimum === undefined ? (type ?? 'value') : `${type}, at least ${minimum}`
}

function meaning({ description, default: usual, pattern }: Schema): string {
  const parts = [description ?? '']
  if (usual !== undefined) parts.push(`Default: ${code(JSON.stringify(usual))}.`)
  if (pattern !== undefined) parts.push(`Matches ${code(pattern)}.`)
  return parts.filter((part) => part !== '').join(' ')
}

function toolsPage(list: readonly Tool[]): string {
  const sections = list.map((tool) => {
    const { name, title, description, inputSchema } = describeTool(tool)
    const { readOnly, destructive, idempotent, openWorld, recorded, extension, disturbs, grants, writes } =
      tool.attributes
    const attributes = [
      readOnly ? 'changes nothing' : 'acts',
      ...(destructive ? ['may lose what somebody made'] : []),
      ...(idempotent && !readOnly ? ['again changes nothing further'] : []),
      ...(openWorld ? ['may reach beyond this machine'] : []),
      ...(recorded ? ['recorded'] : []),
      ...(extension ? ['an extension'] : []),
      ...(disturbs ? ['changes what the person sees'] : []),
      ...(grants.length > 0 ? [`needs ${grants.join(' and ')}`] : []),
      ...writes.map((argument) => `writes a file where ${code(argument)} names one`),
    ]
    const rows = Object.entries(inputSchema.properties).map(([argument, schema]) => [
      code(argument),
      typeOf(schema),
      inputSchema.required?.includes(argument) ? 'yes' : 'no',
      meaning(schema),
    ])
    const takes = rows.length > 0 ? table(['Argument', 'Type', 'Required', 'Meaning'], rows) : 'It takes no arguments.'
    return `## ${code(name)}: ${title}\n\n${description}\n\n*${attributes.join('; ')}.*\n\n${takes}`
  })
  return page('Tools', `${list.length} tools, the same over MCP, in the shell and on the socket.`, ...sections)
}

function failuresPage(): string {
  const rows = Object.entries(failures).map(([name, { when, exit, status = 400 }]) => [
    code(name),
    when,
    String(exit),
    String(status),
  ])
  return page(
    'Failures',
    'Every way a call can fail. Over MCP a failed result carries the code in `structuredContent`, over HTTP in the ' +
      'body; the shell form ends with the exit code. Operations of the VM host answer 400 to every failure, other ' +
      'routes the status below.',
    table(['Code', 'When', 'Exit code', 'HTTP status'], rows),
  )
}

function vmHostPage(): string {
  const sections = Object.values<Endpoint>(vmHost).map((endpoint) => {
    const { method, path, summary, description, success, refusal, command } = endpoint
    const rows = inputFields(endpoint).map(({ name, from, schema, required }) => [
      code(name),
      { params: 'path', query: 'query', body: 'body' }[from],
      typeOf(schema),
      required ? 'yes' : 'no',
      meaning(schema),
    ])
    const takes = rows.length > 0 ? table(['Field', 'In', 'Type', 'Required', 'Meaning'], rows) : 'It takes no input.'
    const positional = command.positional.map((field) => ` ${field.toUpperCase()}`).join('')
    return [
      `## ${code(`${method} /svc${path}`)}`,
      `${summary} ${description}`,
      takes,
      table(
        ['Status', 'Meaning'],
        [
          [String(success.status), success.description],
          ['400', refusal],
        ],
      ),
      `In the shell: ${code(`backlot ${command.group} ${command.words.join(' ')}${positional}`)}`,
    ].join('\n\n')
  })
  return page('VM host', 'Each route answers under `/svc` and, for existing clients, under `/lume`.', ...sections)
}

/** Fields of an object, or a word for none. */
const fieldsTable = (schema: Schema & { readonly required?: readonly string[] }, none: string): string => {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    code(name),
    typeOf(field),
    schema.required?.includes(name) ? 'yes' : 'no',
    meaning(field),
  ])
  return rows.length > 0 ? table(['Field', 'Type', 'Always', 'Meaning'], rows) : none
}

function computerPage(): string {
  const sections = Object.entries<Command>(computer).map(
    ([name, { summary, params, result, aliases = [], acts, only }]) => {
      const notes = [
        ...(acts ? ['acts: refused while a person has taken over'] : ['goes on while a person has taken over']),
        ...(only === undefined ? [] : [only === 'desktop' ? 'on desktops' : 'on Android']),
        ...(aliases.length > 0 ? [`also called ${aliases.map(code).join(', ')}`] : []),
      ]
      return [
        `## ${code(name)}`,
        summary,
        `*${notes.join('; ')}.*`,
        fieldsTable(params as Schema, 'It takes no parameters.'),
        fieldsTable(result as Schema, 'It gives nothing but `success`.'),
      ].join('\n\n')
    },
  )
  return page(
    'Commands of the computer server',
    `\`POST /cmd\` and \`WS /ws\` of \`backlot computer\` take \`{"command": NAME, "params": {…}}\`. A success is ` +
      '`{"success": true, …}` with the fields of the second table, a failure `{"success": false, "error", "code", …}`. ' +
      'Parameters that are `null` count as absent, unknown ones are ignored.',
    ...sections,
  )
}
