/** A program that does nothing: what the runtime itself costs. */
export {}
