/** The operations as a page to read, written off the OpenAPI document. */

interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly $ref?: string
}

interface Content {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Schema }[]
  readonly requestBody?: { readonly content: NonNullable<Content['content']> }
  readonly responses: Readonly<Record<string, Content>>
}

const html = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Prose with its `code`. */
const prose = (text: string): string => html(text).replace(/`([^`]+)`/g, '<code>$1</code>')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `<table><thead><tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr></thead><tbody>${rows
        .map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
        .join('')}</tbody></table>`

const typeOf = (schema: Schema): string => {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.const !== undefined) return String(schema.const)
  if (schema.enum !== undefined) return schema.enum.join(', ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`
  return schema.type ?? 'value'
}

/** The object that a schema speaks of: itself, that of a list, or that of the alternatives which is one. */
const objectOf = (schema: Schema | undefined): Schema | undefined =>
  schema === undefined || schema.properties !== undefined
    ? schema
    : (objectOf(schema.items) ?? schema.anyOf?.map(objectOf).find((each) => each !== undefined))

/** The fields of an object, those of the objects in it after a dot. */
const fields = (schema: Schema, before = ''): string[][] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const inner = objectOf(field)
    const row = [
      `<code>${html(before + name)}</code>`,
      html(typeOf(field)),
      schema.required?.includes(name) ? 'yes' : 'no',
      prose(field.description ?? ''),
    ]
    return [row, ...(inner?.properties === undefined ? [] : fields(inner, `${before}${name}.`))]
  })

const schemaOf = (content: Content['content']): Schema | undefined => Object.values(content ?? {})[0]?.schema

const section = (method: string, path: string, operation: Operation): string => {
  const parameters = operation.parameters.map(({ name, in: where, required, schema }) => [
    `<code>${html(name)}</code>`,
    `${html(typeOf(schema))}, in the ${where}`,
    required ? 'yes' : 'no',
    prose(schema.description ?? ''),
  ])
  const sent = [...parameters, ...fields(schemaOf(operation.requestBody?.content) ?? {})]
  const [[, success]] = Object.entries(operation.responses) as [[string, Content]]
  const given = objectOf(schemaOf(success.content))
  return `<details id="${operation.operationId}">
<summary><code class="${method}">${method.toUpperCase()}</code> <code>${html(path)}</code> <span>${prose(operation.summary)}</span></summary>
<p>${prose(operation.description)}</p>
${sent.length === 0 ? '' : `<h3>It takes</h3>${table(['Field', 'Type', 'Required', 'Meaning'], sent)}`}
${given === undefined ? '' : `<h3>It gives</h3>${table(['Field', 'Type', 'Always', 'Meaning'], fields(given))}`}
<h3>It answers</h3>${table(
    ['Status', 'Meaning'],
    Object.entries(operation.responses).map(([status, { description }]) => [status, prose(description)]),
  )}
</details>`
}

/** What the page says beside the document. */
export interface DocsPageParts {
  /** Path of its style. */
  readonly style: string
  /** Paths of other pages, by what they are called. */
  readonly links: Readonly<Record<string, string>>
  /** What is owed to the makers of what the server shows. */
  readonly notices: string
}

/** The page, finished. */
export const docsPage = (document: Record<string, unknown>, about: DocsPageParts): string => {
  const { info, paths } = document as {
    readonly info: { readonly title: string; readonly version: string; readonly description: string }
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  }
  const sections = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(method, path, operation)),
  )
  const links = Object.entries(about.links).map(([name, path]) => `<a href="${html(path)}">${html(name)}</a>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${html(info.title)}: operations</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${html(about.style)}">
</head>
<body>
<h1>${html(info.title)}</h1>
<p>${prose(info.description)} Version ${html(info.version)}. ${links.join(' · ')}</p>
${sections.join('\n')}
<footer>${html(about.notices)}</footer>
</body>
</html>
`
}
