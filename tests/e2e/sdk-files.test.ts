import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { sdkSetup, ways } from '../support/sdk/setup.ts'
import { until } from '../support/until.ts'

const setup = sdkSetup()

describe.each(ways)('%s, %s', (runtime, kind) => {
  const driven = () => setup().program(runtime, kind)
  const folder = (name: string) => {
    const path = setup().desktop.path(`${name}-${runtime}-${kind}`)
    mkdirSync(path)
    return path
  }

  test('files are written and read, whole, in parts and as streams', async () => {
    const program = await driven()
    const path = `${folder('written')}/deep/er/file.bin`
    const read = await program.run(async ({ files }, file) => {
      await files.write(file, 'Grüße\n', { mode: 0o640 })
      await files.write(file, new Uint8Array([0, 255, 10]), { append: true })
      await files.write(file, new Blob(['more']), { append: true })
      await files.write(file, new Blob(['stream']).stream(), { append: true })
      const parts: number[] = []
      const reader = (await files.readStream(file)).getReader()
      for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(...part.value)
      return {
        text: await files.readText(file),
        bytes: [...(await files.readBytes(file))],
        part: [...(await files.readBytes(file, { offset: 2, length: 3 }))],
        rest: [...(await files.readBytes(file, { offset: 17 }))],
        beyond: (await files.readBytes(file, { offset: 100 })).length,
        none: (await files.readBytes(file, { length: 0 })).length,
        parts,
      }
    }, path)
    const there = readFileSync(path)
    expect(there.toString('latin1')).toBe(`${Buffer.from('Grüße\n').toString('latin1')}\0\xff\nmorestream`)
    expect(read.bytes).toEqual([...there])
    expect(read.parts).toEqual([...there])
    expect(read.part).toEqual([...there.subarray(2, 5)])
    expect(read.rest).toEqual([...there.subarray(17)])
    expect([read.beyond, read.none]).toEqual([0, 0])
    expect(read.text).toBe(new TextDecoder().decode(there))
    expect(statSync(path).mode & 0o777).toBe(0o640)
    // What is replaced keeps its rights.
    await program.run(({ files }, file) => files.write(file, 'new'), path)
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['new', 0o640])
  })

  test('a file of many megabytes arrives as it was, both ways', async () => {
    const program = await driven()
    const [from, there, back] = ['from', 'there', 'back'].map((name) => `${folder(name)}/file`) as [
      string,
      string,
      string,
    ]
    writeFileSync(from, Buffer.alloc(20_000_000, 'a line of some length\n'))
    chmodSync(from, 0o750)
    await program.run(
      async ({ files }, [local, path, copy]) => {
        await files.upload(local, path)
        await files.download(path, copy)
      },
      [from, there, back] as const,
    )
    expect(readFileSync(there).equals(readFileSync(from))).toBe(true)
    expect(readFileSync(back).equals(readFileSync(from))).toBe(true)
    expect(statSync(there).mode & 0o777).toBe(0o750)
  })

  test('what ends early leaves the file as it was', async () => {
    const program = await driven()
    const path = `${folder('early')}/file`
    writeFileSync(path, 'before')
    const met = await program.fails(({ files }, file) => {
      let pieces = 0
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          pieces += 1
          if (pieces < 5) controller.enqueue(new Uint8Array(100_000))
          else controller.error(new Error('the source broke'))
        },
      })
      return files.write(file, stream)
    }, path)
    expect([met.code ?? '', met.message].join(' ')).toMatch(/connection_lost|the source broke/)
    const cancelled = await program.fails(({ files }, file) => {
      const stop = new AbortController()
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          controller.enqueue(new Uint8Array(100_000))
          stop.abort(new Error('enough'))
        },
      })
      return files.write(file, stream, { signal: stop.signal })
    }, path)
    expect(cancelled.message).toBe('enough')
    const left = () => readdirSync(path.slice(0, -'/file'.length))
    await until('the rest to go', () => left().length === 1)
    expect(readFileSync(path, 'utf8')).toBe('before')
  })

  test('folders are copied in and out, with all that is in them', async () => {
    const program = await driven()
    const [from, there, back] = ['in', 'there', 'out'].map(folder) as [string, string, string]
    mkdirSync(`${from}/sub/empty`, { recursive: true })
    writeFileSync(`${from}/sub/a.txt`, 'a')
    writeFileSync(`${from}/ümlaut 1`, 'ü')
    symlinkSync('sub/a.txt', `${from}/link`)
    const kept = await program.run(
      async ({ files }, [local, path, copy]) => {
        await files.write(`${path}/stays`, 'stays')
        await files.upload(local, path)
        await files.download(path, `${copy}/new`)
        return (await files.list(path)).map(({ name, type }) => `${name} ${type}`)
      },
      [from, there, back] as const,
    )
    expect(kept).toEqual(['link symlink', 'stays file', 'sub directory', 'ümlaut 1 file'])
    expect(readFileSync(`${back}/new/link`, 'utf8')).toBe('a')
    expect(readFileSync(`${back}/new/ümlaut 1`, 'utf8')).toBe('ü')
    expect(statSync(`${back}/new/sub/empty`).isDirectory()).toBe(true)
  })

  test('paths are described, made, moved and removed', async () => {
    const program = await driven()
    const root = folder('paths')
    writeFileSync(`${root}/file`, 'four')
    symlinkSync('nowhere', `${root}/link`)
    const told = await program.run(async ({ files }, path) => {
      const [stat, link, home] = [
        await files.stat(`${path}/file`),
        await files.stat(`${path}/link`),
        await files.stat('~'),
      ]
      const list = await files.list(path)
      const exists = [
        await files.exists(`${path}/file`),
        await files.exists(`${path}/link`),
        await files.exists(`${path}/no`),
      ]
      await files.makeDir(`${path}/a/b`)
      await files.makeDir(`${path}/a/b`)
      await files.move(`${path}/file`, `${path}/a/moved`)
      await files.remove(`${path}/link`)
      return { stat, link, home, list, exists }
    }, root)
    const modifiedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const file = { name: 'file', path: `${root}/file`, type: 'file', sizeBytes: 4, modifiedAt }
    const link = { name: 'link', path: `${root}/link`, type: 'symlink', target: 'nowhere', modifiedAt }
    expect(told.stat).toEqual(file as never)
    expect(told.link).toEqual(link as never)
    expect(told.list).toEqual([file, link] as never)
    expect(told.home).toMatchObject({ type: 'directory' })
    expect(told.exists).toEqual([true, true, false])
    expect(readFileSync(`${root}/a/moved`, 'utf8')).toBe('four')
    const full = await program.fails(({ files }, path) => files.remove(`${path}/a`), root)
    expect(full).toMatchObject({ name: 'ConflictError', code: 'folder_not_empty' })
    await program.run(({ files }, path) => files.remove(`${path}/a`, { recursive: true }), root)
    expect(await program.run(({ files }, path) => files.list(path), root)).toEqual([])
  })

  test('what cannot be is refused with its code, here and there', async () => {
    const program = await driven()
    const root = folder('refused')
    writeFileSync(`${root}/file`, '')
    const codes = await program.run(async ({ files }, path) => {
      const attempts = {
        readText: () => files.readText(`${path}/no`),
        readStream: () => files.readStream(`${path}/no`),
        stat: () => files.stat(`${path}/no`),
        list: () => files.list(`${path}/no`),
        move: () => files.move(`${path}/no`, `${path}/other`),
        remove: () => files.remove(`${path}/no`),
        download: () => files.download(`${path}/no`, `${path}/other`),
        upload: () => files.upload(`${path}/no`, `${path}/other`),
        uploadInto: () => files.upload(`${path}/file`, `${path}/file/below`),
        downloadInto: () => files.download(`${path}/file`, `${path}/none/other`),
        makeDir: () => files.makeDir(`${path}/file`),
        readFolder: () => files.readText(path),
        mode: () => files.write(`${path}/x`, '', { mode: 1.5 }),
        watch: async () => {
          for await (const _ of files.watch(`${path}/no`)) break
        },
      }
      const met: Record<string, string> = {}
      for (const [name, attempt] of Object.entries(attempts)) {
        met[name] = await attempt().then(
          () => 'done',
          (error) => error.code,
        )
      }
      return met
    }, root)
    expect(codes).toEqual({
      readText: 'file_not_found',
      readStream: 'file_not_found',
      stat: 'file_not_found',
      list: 'file_not_found',
      move: 'file_not_found',
      remove: 'file_not_found',
      download: 'file_not_found',
      upload: 'file_not_found',
      uploadInto: 'file_exists',
      downloadInto: 'file_not_found',
      makeDir: 'file_exists',
      readFolder: 'invalid_argument',
      mode: 'invalid_argument',
      watch: 'file_not_found',
    })
  })

  test('what changes at a path is told until the loop is left', async () => {
    const program = await driven()
    const root = folder('watched')
    const seen = await program.run(async ({ files }, path) => {
      const events: string[] = []
      let turn = 0
      // Nobody knows when the watching has begun: files are made until one is told of.
      const timer = setInterval(() => void files.write(`${path}/file-${turn++}`, ''), 50)
      for await (const { type, path: changed } of files.watch(path)) {
        events.push(type)
        if (type === 'created' && changed.includes('/file-')) {
          clearInterval(timer)
          void files.remove(changed)
        }
        if (type === 'removed' && changed.includes('/file-')) break
      }
      return events
    }, root)
    expect(seen).toContain('created')
    expect(seen.at(-1)).toBe('removed')
    const stopped = await program.fails(async ({ files }, path) => {
      for await (const _ of files.watch(path, { signal: AbortSignal.timeout(100) })) {
      }
    }, root)
    expect(stopped.name).toBe('TimeoutError')
    expect(stopped.isOurs).toBe(false)
  })
})
