/** Leaves out of what a VNC viewer sends whatever acts (RFB, RFC 6143, and the registered extensions). */

/** Bytes of the messages of a client, by their type; the functions read a length out of the beginning. */
const lengths: Readonly<Record<number, number | ((bytes: Uint8Array) => number | undefined)>> = {
  // SetPixelFormat
  0: 20,
  // SetEncodings
  2: (bytes) => (bytes.length < 4 ? undefined : 4 + 4 * view(bytes).getUint16(2)),
  // FramebufferUpdateRequest
  3: 10,
  // KeyEvent
  4: 8,
  // PointerEvent
  5: 6,
  // ClientCutText, whose length is negative in its extended form
  6: (bytes) => (bytes.length < 8 ? undefined : 8 + Math.abs(view(bytes).getInt32(4))),
  // EnableContinuousUpdates
  150: 10,
  // ClientFence
  248: (bytes) => (bytes.length < 9 ? undefined : 9 + (bytes[8] ?? 0)),
  // xvp
  250: 4,
  // SetDesktopSize
  251: (bytes) => (bytes.length < 8 ? undefined : 8 + 16 * (bytes[6] ?? 0)),
  // QEMU client messages; the extended key event is the only one that viewers send
  255: (bytes) => (bytes.length < 2 ? undefined : bytes[1] === 0 ? 12 : Number.NaN),
}

/** Types of the messages that act: keys, pointer, clipboard, power, size. */
const acting: ReadonlySet<number> = new Set([4, 5, 6, 250, 251, 255])

/**
 * Whether a message acts. A viewer that says which forms of the clipboard it knows (ClientCutText in its extended form with
 * the action `caps`) changes none: a screen that is not told sends all that is copied to those who look on.
 */
const isActing = (message: Uint8Array): boolean => {
  const [type = 0, , , , sign = 0] = message
  const saysForms = type === 6 && message.length >= 12 && sign >= 0x80 && ((message[8] ?? 0) & 0x01) !== 0
  return acting.has(type) && !saysForms
}

/** What stands before the messages: the version, the choice of a security type, ClientInit. */
const openingLengths = [12, 1, 1] as const

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** One viewer's messages; those that act pass while the viewer may act. */
export class InputFilter {
  #opening: number = 0
  #held: Uint8Array = new Uint8Array()

  constructor(private readonly mayAct: () => boolean) {}

  /** What may pass of the bytes that came, whole messages only. Throws a `RangeError` at a message of an unknown type. */
  pass(bytes: Uint8Array): Uint8Array {
    this.#held = this.#held.byteLength === 0 ? bytes.slice() : Buffer.concat([this.#held, bytes])
    const passed: Uint8Array[] = []
    for (;;) {
      const length = this.#nextLength()
      if (length === undefined || length > this.#held.byteLength) break
      const message = this.#held.subarray(0, length)
      const isMessage = this.#opening >= openingLengths.length
      if (!isMessage) this.#opening += 1
      if (!isMessage || !isActing(message) || this.mayAct()) passed.push(message)
      this.#held = this.#held.subarray(length)
    }
    return passed.length === 1 ? (passed[0] as Uint8Array) : Buffer.concat(passed)
  }

  #nextLength(): number | undefined {
    const opening = openingLengths[this.#opening]
    if (opening !== undefined) return opening
    const [type] = this.#held
    if (type === undefined) return undefined
    const known = lengths[type]
    const length = typeof known === 'function' ? known(this.#held) : known
    if (known === undefined || Number.isNaN(length)) throw new RangeError(`a viewer sent a message of type ${type}`)
    return length
  }
}
