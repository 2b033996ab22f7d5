/** Functions that run in a web page, imported as their text. */
declare module '*.page.js' {
  const source: string
  export default source
}
