/** What is said here of parts that do not say it themselves, each with the reason. */
import type { Part } from './part.ts'

/** The MIT license of holders of a copyright. */
const mit = (...holders: readonly string[]): string => `MIT License

${holders.map((holder) => `Copyright (c) ${holder}\n`).join('')}
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

const napi = mit('2020 LongYinan', '2018 GitHub')

/** Texts of packages whose archive in the registry has none; the holders are those of the file in their repository. */
export const statedTexts: Readonly<Record<string, string>> = {
  napi,
  'napi-sys': napi,
  'napi-derive': napi,
  'napi-derive-backend': napi,
}

/** Packages under a license that is not accepted for others, with what makes it right for this one. */
export const statedLicenses: Readonly<Record<string, { readonly license: string; readonly reason: string }>> = {
  '@novnc/novnc': {
    license: 'MPL-2.0',
    reason: 'Its files are used as they are; whoever wants their source finds it at the address above.',
  },
  'jpeg-encoder': {
    license: '(MIT OR Apache-2.0) AND IJG',
    reason: 'This software is based in part on the work of the Independent JPEG Group.',
  },
}

/** The standard library of Rust, which is linked into the native core; its package is the compiler. */
export const rustLibrary = (version: string): Part => ({
  name: 'Rust standard library',
  version,
  license: 'MIT OR Apache-2.0',
  source: 'https://github.com/rust-lang/rust',
  texts: [mit('The Rust Project Contributors')],
})

/** What Bun links, by license, as its own list says. */
const linkedByBun = {
  'LGPL-2.0-or-later': 'JavaScriptCore and parts of WebCore (WebKit)',
  'LGPL-2.1': 'TinyCC',
  'Apache-2.0': 'simdutf, highway, uSockets, uWebSockets, parts of TigerBeetle and of libc++abi',
  MIT: 'brotli, ls-hpack, ls-qpack, lsquic, mimalloc, picohttpparser, c-ares, libdeflate, uucode, polyfills of Node',
  BSD: 'lol-html, zstd, libbase64, libspng, libwebp',
  several: 'BoringSSL, libarchive, ICU, libjpeg-turbo, zlib-ng',
}

/** The runtime in the executable; its package in the registry holds no license text. */
export const bunRuntime = (version: string): Part => ({
  name: 'Bun',
  version,
  license: 'MIT',
  source: `https://github.com/oven-sh/bun/tree/bun-v${version}`,
  texts: [
    `${mit()}
Bun links these libraries statically, each under its own license. The list with their addresses is
https://github.com/oven-sh/bun/blob/bun-v${version}/LICENSE.md

${Object.entries(linkedByBun)
  .map(([license, names]) => `  ${license}: ${names}`)
  .join('\n')}

WebKit and TinyCC are under the GNU Lesser General Public License, which lets you exchange them: the source of Bun with
its WebKit is at https://github.com/oven-sh/bun and https://github.com/oven-sh/WebKit, and a Bun that you build of it
makes this executable of the source of Backlot by "bun ts/cli/build.ts".
`,
  ],
})
