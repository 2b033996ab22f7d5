/** The reference page of a package, read off its types: one finished Markdown page. */
import ts from '@typescript/typescript6'

/** A declaration that is exported, under the name that users import. */
interface Exported {
  readonly name: string
  readonly node: ts.Declaration
  /** The comments above it. */
  readonly docs: Docs
}

/** A doc comment, taken apart. */
interface Docs {
  readonly text: string
  readonly usual: string | null
  readonly params: readonly (readonly [name: string, text: string])[]
}

/** Gives the page for the text of `index.d.ts`. */
export const referencePage = (title: string, introduction: string, declarations: string): string => {
  const source = ts.createSourceFile('index.d.ts', declarations, ts.ScriptTarget.Latest, true)
  const exported = exportsOf(source)
  const isError = ({ node }: Exported) => ts.isClassDeclaration(node) && /Error$/.test(node.name?.text ?? '')
  const sections: readonly [title: string, chosen: (each: Exported) => boolean][] = [
    ['Classes', (each) => ts.isClassDeclaration(each.node) && !isError(each)],
    ['Functions and values', ({ node }) => ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node)],
    ['Interfaces', ({ node }) => ts.isInterfaceDeclaration(node)],
    ['Types', ({ node }) => ts.isTypeAliasDeclaration(node)],
    ['Errors', isError],
  ]
  const blocks = sections.flatMap(([heading, chosen]) => {
    const found = exported.filter(chosen)
    return found.length === 0 ? [] : [`## ${heading}`, ...found.flatMap((each) => blocksOf(each, exported, source))]
  })
  return `${[`# ${title}`, introduction, ...blocks].join('\n\n')}\n`
}

/** What a file exports at its end, by name; functions once for each form of call. */
const exportsOf = (source: ts.SourceFile): Exported[] => {
  const declared = new Map<string, ts.Declaration[]>()
  const add = (name: string | undefined, node: ts.Declaration) =>
    name === undefined ? undefined : declared.set(name, [...(declared.get(name) ?? []), node])
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement)) {
      for (const each of statement.declarationList.declarations) add(each.name.getText(source), each)
    } else if (isNamed(statement)) add(statement.name?.text, statement)
  }
  return source.statements
    .flatMap((statement) =>
      ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)
        ? [...statement.exportClause.elements]
        : [],
    )
    .flatMap(({ name, propertyName }) =>
      (declared.get((propertyName ?? name).text) ?? []).map((node) => ({ name: name.text, node, docs: docsOf(node) })),
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

type Named = ts.ClassDeclaration | ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.FunctionDeclaration

const isNamed = (node: ts.Node): node is Named =>
  ts.isClassDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isFunctionDeclaration(node)

const blocksOf = ({ name, node, docs }: Exported, all: readonly Exported[], source: ts.SourceFile): string[] => {
  const about = [docs.text, usualOf(docs), ...paramsOf(docs)].filter((text) => text !== '')
  if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) {
    const bases = (node.heritageClauses ?? []).flatMap(({ types }) => types.map((type) => shown(type, source)))
    const above = bases.length === 0 ? [] : [`Has all of ${bases.map(code).join(' and ')}.`]
    const inherited = membersOf(all.filter((each) => bases.includes(each.name)))
    const members = node.members
      .filter((member) => docsOf(member).text !== '' || !inherited.has(member.name?.getText(source)))
      .flatMap((member) => memberLines(member, source))
    return [`### ${code(name)}`, ...about, ...above, ...(members.length === 0 ? [] : [members.join('\n')])]
  }
  if (ts.isTypeAliasDeclaration(node)) {
    return [`### ${code(name)}`, ...about, `\`\`\`ts\n${plain(node.getText(source))}\n\`\`\``]
  }
  return [`### ${code(plain(shown(node, source)))}`, ...about]
}

/** The names of the members of classes and interfaces; what overrides one says so again only where it differs. */
const membersOf = (bases: readonly Exported[]): Set<string | undefined> =>
  new Set(
    bases.flatMap(({ node }) =>
      ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)
        ? node.members.flatMap(({ name }) => name?.getText() ?? [])
        : [],
    ),
  )

/** The lines of a member, none where it is not for users. */
const memberLines = (member: ts.ClassElement | ts.TypeElement, source: ts.SourceFile): string[] => {
  const modifiers = ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []) : []
  const has = (kind: ts.SyntaxKind) => modifiers.some((modifier) => modifier.kind === kind)
  if (has(ts.SyntaxKind.PrivateKeyword)) return []
  if (has(ts.SyntaxKind.ProtectedKeyword) && ts.isConstructorDeclaration(member)) return []
  if (member.name !== undefined && ts.isPrivateIdentifier(member.name)) return []
  // Keyed by a symbol of ours: for this package alone.
  if (member.name !== undefined && /^\[(?!Symbol\.)/.test(member.name.getText(source))) return []
  const docs = docsOf(member)
  const text = [docs.text, usualOf(docs)].filter((part) => part !== '').join(' ')
  return [
    `- ${code(shown(member, source))}${text === '' ? '' : `: ${text}`}`,
    ...docs.params.map(([name, meaning]) => `  - ${code(name)}: ${meaning}`),
  ]
}

const usualOf = ({ usual }: Docs): string =>
  usual === null ? '' : `Default: ${/`/.test(usual) ? usual : code(usual)}.`

const paramsOf = ({ params }: Docs): string[] =>
  params.length === 0 ? [] : [params.map(([name, meaning]) => `- ${code(name)}: ${meaning}`).join('\n')]

const code = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

/** Characters of a type that one line shows. */
const longestShown = 160

/** A declaration in one line, without comments; a long type of a field is left out. */
const shown = (node: ts.Node, source: ts.SourceFile): string => {
  const printer = ts.createPrinter({ removeComments: true })
  const text = printer.printNode(ts.EmitHint.Unspecified, node, source)
  if (ts.isPropertySignature(node) && node.type && ts.isTypeLiteralNode(node.type) && text.length > longestShown) {
    return text.slice(0, text.indexOf('{')).concat('{ … }')
  }
  return (
    plain(text)
      // Names that only the code behind the declaration needs.
      .replace(/\{[\w\s,]*\}(\??: \w)/g, 'options$1')
      .replace(/\b_(\w+\??:)/g, '$1')
      .replace(/\s*\n\s*/g, ' ')
      .replace(/;$/, '')
      .replace(/^(declare|export) /, '')
      .replace(/^function /, '')
  )
}

/** Without the numbers by which a bundle tells names apart that are the same in two modules. */
const plain = (text: string): string => text.replace(/(\w)\$\d+\b/g, '$1').replace(/^declare /, '')

const docsOf = (node: ts.Node): Docs => {
  const owner = ts.isVariableDeclaration(node) ? node.parent.parent : node
  const comments = ts.getJSDocCommentsAndTags(owner).filter(ts.isJSDoc)
  const last = comments.at(-1)
  const tags = last?.tags ?? []
  const usual = tags.find(({ tagName }) => tagName.text === 'default')
  return {
    text: oneLine(last?.comment),
    usual: usual === undefined ? null : oneLine(usual.comment),
    params: tags.flatMap((tag) =>
      ts.isJSDocParameterTag(tag) ? [[tag.name.getText(), oneLine(tag.comment)] as const] : [],
    ),
  }
}

/** A comment as one line of Markdown, links as what they name. */
const oneLine = (comment: string | ts.NodeArray<ts.JSDocComment> | undefined): string =>
  (typeof comment === 'string' ? comment : (ts.getTextOfJSDocComment(comment) ?? ''))
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
