/** A sentence of one of the three specifications, in short own words, under an id that tests cite. */
export interface Requirement {
  readonly id: string
  readonly text: string
  /** Why no test of this project can prove it; absent where one can. */
  readonly deferred?: string
  /** Why the project does otherwise than the sentence says, with the document that says so where there is one. */
  readonly decided?: string
}

/** A row of a requirement file: the text alone, or the text and why its proof is deferred or what was decided against it. */
export type Row =
  | string
  | { readonly text: string; readonly deferred: string }
  | { readonly text: string; readonly decided: string }

/** The rows of a file, keyed by requirement id. */
export type Rows = Readonly<Record<string, Row>>
