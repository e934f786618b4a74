/** The bundler loads grammars as text. */
declare module '*.ohm' {
  const source: string
  export default source
}
