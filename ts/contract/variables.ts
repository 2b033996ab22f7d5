/** Environment variables by name, as a process has them; one that is absent is undefined. */
export type Variables = Readonly<Record<string, string | undefined>>
