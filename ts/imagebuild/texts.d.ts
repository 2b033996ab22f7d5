/** Files of a guest, imported as their text. */
declare module '*.sh' {
  const text: string
  export default text
}
declare module '*.awk' {
  const text: string
  export default text
}
declare module '*.conf' {
  const text: string
  export default text
}
declare module '*/entry' {
  const text: string
  export default text
}
