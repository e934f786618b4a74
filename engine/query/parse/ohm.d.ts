/** The build compiles grammars; this is what `makeRecipe` reads. */
declare module '*.ohm' {
  const recipe: string
  export default recipe
}
