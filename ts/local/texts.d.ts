declare module '*/packages.txt' {
  const text: string
  export default text
}
declare module '*/backlot' {
  const text: string
  export default text
}
declare module '*/settings.ini' {
  const text: string
  export default text
}
declare module '*.sh' {
  const text: string
  export default text
}
declare module '*.conf' {
  const text: string
  export default text
}
declare module '*/wallpaper.jpg' {
  const text: string
  export default text
}
declare module '*.desktop' {
  const text: string
  export default text
}
declare module '*/panel' {
  const text: string
  export default text
}
declare module '*/tint2rc' {
  const text: string
  export default text
}
