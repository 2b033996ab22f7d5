/** A connection that several callers use: opened when first needed, and again after it was closed. */

interface Closable {
  close(): unknown
}

/** One connection at a time. */
export interface Shared<Connection> {
  /** The open connection. A failed opening is tried again by the next caller. */
  get(): Promise<Connection>
  /** The open connection, if there is one. */
  peek(): Promise<Connection | undefined>
  /** Closes what is open; closing twice is fine. */
  close(): Promise<void>
}

/** Opens once for all callers. */
export const shared = <Connection extends Closable>(open: () => Promise<Connection>): Shared<Connection> => {
  let opened: Promise<Connection> | undefined
  const get = (): Promise<Connection> => {
    if (opened === undefined) {
      const opening = open()
      opening.catch(() => {
        if (opened === opening) opened = undefined
      })
      opened = opening
    }
    return opened
  }
  const close = async (): Promise<void> => {
    const closing = opened
    opened = undefined
    const connection = await closing?.catch(() => undefined)
    await connection?.close()
  }
  const peek = async () => opened?.catch(() => undefined)
  return { get, peek, close }
}
