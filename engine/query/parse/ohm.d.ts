/** Grammar compiled by the build, for `makeRecipe`. */
declare module '*.ohm' {
  const recipe: string
  export default recipe
}
