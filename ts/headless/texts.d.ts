declare module '*.conf' {
  const text: string
  export default text
}

declare module '*.sh' {
  const text: string
  export default text
}
