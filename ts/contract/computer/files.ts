/** Commands on files; longer ones go through `/files`, which streams. */
import { Type } from '@sinclair/typebox'
import { choice } from '../fields/choice.ts'
import { command } from './command.ts'
import { done, path } from './fields.ts'

const onPath = Type.Object({ path })
/** What a path itself names: a link is not followed. */
const kindOfFile = {
  type: choice(['file', 'directory', 'symlink'], { description: 'A device, pipe or socket counts as a file.' }),
  modified_at: Type.String({ description: 'ISO 8601, UTC.' }),
  target: Type.Optional(Type.String({ description: 'Where a link leads, as it is written.' })),
}

const exists = Type.Object({ exists: Type.Boolean() })

export const fileCommands = {
  file_exists: command({
    summary: 'Tell whether a path names a file.',
    params: onPath,
    result: exists,
    needs: 'files',
  }),
  directory_exists: command({
    summary: 'Tell whether a path names a folder.',
    params: onPath,
    result: exists,
    needs: 'files',
  }),
  list_dir: command({
    summary: 'List what is in a folder.',
    params: onPath,
    result: Type.Object({
      files: Type.Array(Type.String(), { description: 'Names, sorted.' }),
      entries: Type.Array(
        Type.Object({
          name: Type.String(),
          is_dir: Type.Boolean(),
          size: Type.Integer({ description: 'Bytes.' }),
          ...kindOfFile,
        }),
      ),
    }),
    needs: 'files',
    aliases: ['ls'],
  }),
  stat: command({
    summary: 'Tell what is at a path.',
    params: onPath,
    result: Type.Object({
      name: Type.String(),
      path: Type.String({ description: 'Absolute.' }),
      size: Type.Integer({ description: 'Bytes.' }),
      ...kindOfFile,
    }),
    needs: 'files',
  }),
  move_path: command({
    summary: 'Move or rename a file or folder; a file that is there is replaced.',
    params: Type.Object({ from: path, to: path }),
    result: done,
    needs: 'files',
  }),
  remove_path: command({
    summary: 'Remove what is at a path: a file, a link, an empty folder, or a folder with all that is in it.',
    params: Type.Object({
      path,
      recursive: Type.Optional(Type.Boolean({ description: 'A folder may hold something.' })),
    }),
    result: done,
    needs: 'files',
  }),
  read_text: command({
    summary: 'Read a file as UTF-8.',
    params: onPath,
    result: Type.Object({ content: Type.String({ description: 'What is no UTF-8 becomes U+FFFD.' }) }),
    needs: 'files',
    aliases: ['read_file'],
  }),
  write_text: command({
    summary: 'Write a file; what was there before is replaced whole or not at all.',
    params: Type.Object({
      path,
      content: Type.String(),
      append: Type.Optional(Type.Boolean({ description: 'Add to the end of the file instead.' })),
    }),
    result: done,
    needs: 'files',
    aliases: ['write_file'],
  }),
  read_bytes: command({
    summary: 'Read a file or a part of it, at most 64 MiB at a time.',
    params: Type.Object({
      path,
      offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Bytes from the beginning; 0 when absent.' })),
      length: Type.Optional(Type.Integer({ minimum: 0, description: 'Bytes; up to the end when absent.' })),
    }),
    result: Type.Object({
      content_b64: Type.String({ description: 'The bytes, in base64.' }),
      content: Type.String({ description: 'The same.' }),
    }),
    needs: 'files',
  }),
  write_bytes: command({
    summary: 'Write bytes to a file; what was there before is replaced whole or not at all.',
    params: Type.Object({
      path,
      content_b64: Type.String({ description: 'The bytes, in base64.' }),
      append: Type.Optional(Type.Boolean({ description: 'Add to the end of the file instead.' })),
    }),
    result: done,
    needs: 'files',
  }),
  get_file_size: command({
    summary: 'Tell how long a file is.',
    params: onPath,
    result: Type.Object({ size: Type.Integer({ description: 'Bytes.' }) }),
    needs: 'files',
  }),
  delete_file: command({
    summary: 'Delete a file.',
    params: onPath,
    result: done,
    needs: 'files',
    aliases: ['rm'],
  }),
  create_dir: command({
    summary: 'Make a folder, with those above it; one that is there already is fine.',
    params: onPath,
    result: done,
    needs: 'files',
    aliases: ['mkdir'],
  }),
  delete_dir: command({
    summary: 'Delete a folder with all that is in it.',
    params: onPath,
    result: done,
    needs: 'files',
    aliases: ['rmdir'],
  }),
} as const
