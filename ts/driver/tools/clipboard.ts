/** The clipboard: text, a picture, files. */
import { readFile, stat } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import type { Clip } from '@backlot/native'
import { Type } from '@sinclair/typebox'
import { answer } from '../action/act.ts'
import type { Evidence } from '../action/evidence.ts'
import { absolutePath, writePicture } from '../paths.ts'
import { acts, reads, tool } from '../tool/tool.ts'

/** Characters of the clipboard's text that are shown, and those that may be written. */
const limits = { longestText: 100_000, longestWrittenText: 10_000_000, mostBytes: 64 * 1024 * 1024 } as const

export const clipboardRead = tool({
  name: 'clipboard_read',
  title: 'Read the clipboard',
  description: 'What was copied last, by the person or an agent: text, a picture, paths of files.',
  arguments: Type.Object({
    image_out_file: Type.Optional(
      Type.String({ minLength: 1, description: 'Write the picture to this PNG instead of returning it.' }),
    ),
  }),
  attributes: { ...reads(), extension: true, writes: ['image_out_file'] },
  async run(call, { image_out_file }) {
    const path = image_out_file && absolutePath('image_out_file', image_out_file)
    const { text, image, files, formats } = await (await call.driver.desktop()).clipboardRead()
    const picture = image && isPng(image) ? image : null
    if (picture && path) await writePicture(path, picture)
    return {
      text: [
        summary({ text, image: picture, files }),
        ...(text === null ? [] : [cut(text)]),
        ...(picture && path ? [`Picture: ${path}`] : []),
        ...files,
      ].join('\n'),
      structured: {
        text: text === null ? null : cut(text),
        text_length: text?.length ?? 0,
        text_is_cut: (text?.length ?? 0) > limits.longestText,
        image_bytes: picture?.length ?? 0,
        image_file_path: picture && path ? path : null,
        files,
        formats,
      },
      ...(picture && !path ? { image: { bytes: picture, mimeType: 'image/png' as const } } : {}),
    }
  },
})

export const clipboardWrite = tool({
  name: 'clipboard_write',
  title: 'Write the clipboard',
  description:
    "Copies text, a picture or files, so that the person or an application can paste them. Replaces what was copied, the person's too: to put text into a field use type_text.",
  arguments: Type.Object({
    text: Type.Optional(Type.String({ maxLength: limits.longestWrittenText })),
    secret: Type.Optional(
      Type.Boolean({ description: 'Keep the text out of recordings and later answers.', extension: true }),
    ),
    image_file: Type.Optional(Type.String({ minLength: 1, description: 'Absolute path of a PNG.' })),
    files: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 1_000, description: 'Absolute paths.' }),
    ),
  }),
  attributes: { ...acts(), openWorld: false, idempotent: true, extension: true, types: ['text'] },
  async run(call, args) {
    const { text } = args
    const files = (args.files ?? []).map((path) => absolutePath('files', path))
    const image = args.image_file === undefined ? null : await pngIn(absolutePath('image_file', args.image_file))
    if (text === undefined && image === null && files.length === 0) {
      throw new Failure('missing_argument', 'Nothing to copy is given. Pass text, image_file or files.', {
        argument: 'text',
      })
    }
    const desktop = await call.driver.desktop()
    await desktop.clipboardWrite({ ...(text !== undefined && { text }), ...(image && { image }), files })
    const written = { text: text ?? null, image, files }
    const read = await desktop.clipboardRead()
    const evidence: Evidence = isSame(written, read)
      ? { kind: 'value_read_back', detail: 'another connection reads the same from the clipboard' }
      : { kind: 'text_missing', detail: 'another program has changed the clipboard meanwhile' }
    const copied = `✅ Copied: ${summary(written)}. It can be pasted while this driver runs.`
    return answer(
      copied,
      { evidence: [evidence] },
      {
        text_length: text?.length ?? 0,
        image_bytes: image?.length ?? 0,
        files,
      },
    )
  },
})

type Content = Pick<Clip, 'text' | 'image' | 'files'>

const isSame = (written: Content, read: Content): boolean =>
  (written.text === null || written.text === read.text) &&
  (written.image === null || (read.image !== null && written.image.equals(read.image))) &&
  written.files.every((path) => read.files.includes(path))

const summary = ({ text, image, files }: Content): string => {
  const parts = [
    ...(text === null ? [] : [`${text.length} characters of text`]),
    ...(image === null ? [] : [`a picture of ${image.length} bytes`]),
    ...(files.length === 0 ? [] : [`${files.length} file${files.length === 1 ? '' : 's'}`]),
  ]
  return parts.length === 0 ? 'The clipboard is empty' : parts.join(', ')
}

const cut = (text: string): string => text.slice(0, limits.longestText)

/** The first bytes of every PNG (RFC 2083). */
const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

const isPng = (bytes: Uint8Array): boolean => signature.equals(bytes.subarray(0, signature.length))

const pngIn = async (path: string): Promise<Buffer> => {
  const refuse = (what: string) =>
    new Failure('invalid_argument', `The file "${path}" of "image_file" ${what}. Name a PNG.`, {
      argument: 'image_file',
    })
  const found = await stat(path).catch((error: Error) => {
    throw refuse(`cannot be read: ${error.message}`)
  })
  // A device or a pipe would be read for ever.
  if (!found.isFile()) throw refuse('is no plain file')
  if (found.size > limits.mostBytes) throw refuse(`has ${found.size} bytes, more than ${limits.mostBytes}`)
  const bytes = await readFile(path).catch((error: Error) => {
    throw refuse(`cannot be read: ${error.message}`)
  })
  if (!isPng(bytes)) throw refuse('is no PNG')
  return bytes
}
