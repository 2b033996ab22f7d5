import { expect, test } from 'bun:test'
import { files, place, read } from './sources.ts'

const rust = files.filter((file) => /^crates\/[^/]+\/src\/.*\.rs$/.test(file))

test('a crate chooses its platform in one place', () => {
  // The conditions before `mod platform` are that choice, and `cfg(test)` is the other condition there is.
  const choice = /(#\[cfg(_attr)?\([^\n]*\)\]\s*(#\[path[^\n]*\]\s*)?)+mod platform\b/g
  const wrong = rust.flatMap((file) =>
    read(file)
      .replace(choice, '')
      .split('\n')
      .flatMap((line, index) =>
        /\bcfg(_attr)?!?\(/.test(line) && !/cfg(_attr)?\((all\()?test\b/.test(line) ? [place(file, index, line)] : [],
      ),
  )
  expect(wrong).toEqual([])
  const places = rust.filter((file) => read(file).search(choice) >= 0).map((file) => file.split('/')[1])
  expect(places.length).toBe(new Set(places).size)
})

test('only the crate of the display connects to it', () => {
  // Tests look at a display as a client of their own.
  const connects = /\bx11rb::connect\(|\bRustConnection::connect|\bconnect_to_stream/
  const wrong = rust
    .filter((file) => !file.startsWith('crates/desktop/src/linux/x11/'))
    .filter((file) => connects.test(read(file).split('#[cfg(test)]')[0] ?? ''))
  expect(wrong).toEqual([])
})

test('what a window id is made of is known in the folders of the display server, and on the wire', () => {
  const inFolders = /\bof_xid\b|\.xid\(|\bdesktop::x11\b/
  const ofWindows = /\.x11_/
  const onTheWire = /\bfrom_wire\b|\bwire\b\(|WindowId::wire\b/
  const wrong = rust
    .filter(
      (file) => file !== 'crates/desktop/src/window_id.rs' && file !== 'crates/desktop/src/linux/x11/window_id.rs',
    )
    .filter(
      (file) =>
        (inFolders.test(read(file)) && !file.includes('/x11/')) ||
        (ofWindows.test(read(file)) && !file.includes('/x11/') && !file.startsWith('crates/desktop/')) ||
        (onTheWire.test(read(file)) && !file.startsWith('crates/native/')),
    )
  expect(wrong).toEqual([])
})

test('every synchronous export of the native core catches panics', () => {
  // Attributes of an export, then its signature; an `async fn` becomes a promise, whose panic is a rejection.
  const exported = /((?:^[ \t]*#\[[^\n]*\]\n|^[ \t]*\/\/\/[^\n]*\n)+)[ \t]*pub (async )?fn (\w+)/gm
  const wrong = rust
    .filter((file) => file.startsWith('crates/native/'))
    .flatMap((file) =>
      [...read(file).matchAll(exported)]
        .filter(([, attributes = '', isAsync]) => /#\[napi\b/.test(attributes) && isAsync === undefined)
        .filter(([, attributes = '']) => !attributes.includes('catch_unwind'))
        .map(([, , , name]) => `${file}: ${name}`),
    )
  expect(wrong).toEqual([])
})

test('every field of the native core has its name on the wire', () => {
  const record = /#\[napi\(object[^\n]*\]\n(?:#\[[^\n]*\]\n)*pub struct (\w+) \{([\s\S]*?)\n\}/g
  const field = /((?:[ \t]*(?:#\[[^\n]*\]|\/\/\/[^\n]*)\n)*)[ \t]*pub (\w+):/g
  const wrong = rust
    .filter((file) => file.startsWith('crates/native/'))
    .flatMap((file) =>
      [...read(file).matchAll(record)].flatMap(([, name, body = '']) =>
        [...`\n${body}`.matchAll(field)]
          .filter(([, attributes = '', key = '']) => key.includes('_') && !attributes.includes(`js_name = "${key}"`))
          .map(([, , key]) => `${file}: ${name}.${key}`),
      ),
    )
  expect(wrong).toEqual([])
})

test('tests are the only places that may panic', () => {
  const escapes = /allow\(.*(unwrap_used|expect_used|panic|undocumented_unsafe_blocks)/
  const wrong = rust.flatMap((file) => {
    const lines = read(file).split('\n')
    return lines.flatMap((line, index) => {
      const around = lines.slice(Math.max(0, index - 2), index + 3).join('\n')
      return escapes.test(line) && !/cfg(_attr)?\(test\b/.test(around) ? [place(file, index, line)] : []
    })
  })
  expect(wrong).toEqual([])
})
