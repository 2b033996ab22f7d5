/** A sentence of one of the three specifications, in short own words, under an id that tests cite. */
export interface Requirement {
  readonly id: string
  readonly text: string
  /** Why no test of this project proves it; absent where one can. */
  readonly deferred?: string
}

/** A row of a requirement file: the text alone, or the text and the reason why its proof is deferred. */
export type Row = string | { readonly text: string; readonly deferred: string }

/** The rows of a file, keyed by requirement id. */
export type Rows = Readonly<Record<string, Row>>
