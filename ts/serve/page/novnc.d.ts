/** The part of noVNC 1.7 that pages use (docs/API.md of the package). */
declare module '@novnc/novnc' {
  /** One connection to a VNC server, shown in `target`. */
  export default class RFB extends EventTarget {
    constructor(
      target: HTMLElement,
      /** An address, or a channel that is a WebSocket to look at. */
      url: string | WebSocket,
      options?: { readonly credentials?: { readonly password?: string }; readonly shared?: boolean },
    )
    scaleViewport: boolean
    /** The screen takes the size of the target, where its server can. */
    resizeSession: boolean
    /** Nothing is sent of keyboard and pointer. */
    viewOnly: boolean
    background: string
    focus(): void
    blur(): void
    /** A key by its X keysym; `code` is that of the web. */
    sendKey(keysym: number, code: string, down: boolean): void
    sendCtrlAltDel(): void
    clipboardPasteFrom(text: string): void
    disconnect(): void
  }
}
