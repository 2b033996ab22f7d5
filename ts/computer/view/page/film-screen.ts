/** What shows a live film. */
export interface FilmScreen {
  /** Ends it; closing twice is fine. */
  readonly close: () => void
}
