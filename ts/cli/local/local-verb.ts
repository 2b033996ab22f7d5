/** Does what stands behind `backlot local VERB`, with the arguments after it; gives the exit status. */
export type LocalVerb = (args: readonly string[]) => Promise<number>
