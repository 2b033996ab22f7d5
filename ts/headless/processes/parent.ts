/** The death of the process that started this one. */

/**
 * Settles when this process's parent has ended; never where it has none that it could outlive, or the system does not
 * tell. Takes SIGUSR2 for itself.
 */
export const whenParentEnds = async (): Promise<void> => {
  const parent = process.ppid
  const never = new Promise<never>(() => {})
  if (parent <= 1) return never
  const { signalWhenParentEnds } = await import('@backlot/native')
  const ended = new Promise<void>((settle) => {
    // The signal comes at the end of the thread that started this process, whose process may well live on.
    process.on('SIGUSR2', () => {
      if (process.ppid !== parent) settle()
    })
  })
  if (!signalWhenParentEnds()) return never
  return process.ppid === parent ? ended : undefined
}
