import { expect, test } from 'bun:test'
import { referencePage } from './reference.ts'

const declarations = `
/** What is extended. */
declare abstract class Base {
    private constructor();
    protected constructor(a: string);
    private readonly hidden;
    /** Ends it. */
    end(): Promise<void>;
    [secret](): void;
}
/**
 * Does things, as \`Base\` does,
 * on {@link Point}s.
 */
declare class Doer extends Base {
    /** Starts. @param where From here. */
    static start(where: Point$1, { fast }?: Options): Doer;
    end(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}
interface Point$1 { readonly x: number }
interface Options {
    /** Milliseconds. @default 30_000 */
    timeoutMs?: number;
}
/** One of two. */
type Either = 'a' | 'b';
/** Adds. */
declare function add(a: number, _b: number): number;
declare const unpublished: number;
declare class WrongError extends Error { }
export { Base, Doer, WrongError, add };
export type { Either, Options, Point$1 as Point };
`

test('a page has what is exported, each once, with its docs and defaults, and nothing that is private', () => {
  expect(referencePage('Title', 'About it.', declarations)).toBe(`# Title

About it.

## Classes

### \`Base\`

What is extended.

- \`end(): Promise<void>\`: Ends it.

### \`Doer\`

Does things, as \`Base\` does, on \`Point\`s.

Has all of \`Base\`.

- \`static start(where: Point, options?: Options): Doer\`: Starts.
  - \`where\`: From here.
- \`[Symbol.asyncDispose](): Promise<void>\`

## Functions and values

### \`add(a: number, b: number): number\`

Adds.

## Interfaces

### \`Options\`

- \`timeoutMs?: number\`: Milliseconds. Default: \`30_000\`.

### \`Point\`

- \`readonly x: number\`

## Types

### \`Either\`

One of two.

\`\`\`ts
type Either = 'a' | 'b';
\`\`\`

## Errors

### \`WrongError\`

Has all of \`Error\`.
`)
})
