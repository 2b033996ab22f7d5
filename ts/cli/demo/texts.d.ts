/** Files of a desktop's recipe, imported as their text, or as the path of a copy. */
declare module '*.desktop' {
  const text: string
  export default text
}
declare module '*.jpg' {
  const path: string
  export default path
}
declare module '*/panel' {
  const text: string
  export default text
}
declare module '*/tint2rc' {
  const text: string
  export default text
}
