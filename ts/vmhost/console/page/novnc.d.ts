/** The part of noVNC 1.7 that the console uses (docs/API.md of the package). */
declare module '@novnc/novnc' {
  /** One connection to a VNC server, shown in `target`. */
  export default class RFB extends EventTarget {
    constructor(
      target: HTMLElement,
      url: string,
      options?: { readonly credentials?: { readonly password?: string }; readonly shared?: boolean },
    )
    scaleViewport: boolean
    background: string
    focus(): void
    blur(): void
    /** A key by its X keysym; `code` is that of the web. */
    sendKey(keysym: number, code: string, down: boolean): void
    sendCtrlAltDel(): void
    disconnect(): void
  }
}
