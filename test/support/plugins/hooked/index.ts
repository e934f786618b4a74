import { definePlugin } from 'tesser'

/** Events and calculated attributes of the `company` fixture, as an author would write them. */
export default definePlugin({
  name: 'hooked',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
