import { definePlugin } from 'tesser'

/** Restrict events on the `company` fixture. */
export default definePlugin({
  name: 'restricted',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
