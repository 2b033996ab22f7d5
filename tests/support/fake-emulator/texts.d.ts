/** Files that the fake emulator holds as texts. */
declare module '*.proto' {
  const text: string
  export default text
}

declare module '*fake-device-program' {
  const text: string
  export default text
}
