/** What is known of something, row by row, and what went wrong with it. */
import type { ComponentChildren } from 'preact'

/** A word and what is known under it; null where that is unknown. */
export type Fact = readonly [word: string, text: string | null]

/** The rows; what is unknown is left out. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl>
    {facts.map(
      ([word, text]) =>
        text !== null && (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{text}</dd>
          </div>
        ),
    )}
  </dl>
)

/** What went wrong, read out by a screen reader at once. */
export const Fault = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="fault" role="alert">
    {children}
  </p>
)
