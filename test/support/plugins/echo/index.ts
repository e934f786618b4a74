import { definePlugin } from 'tesser'

/** Functions that return their arguments. */
export default definePlugin({
  name: 'echo',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
