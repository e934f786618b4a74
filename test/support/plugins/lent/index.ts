import { definePlugin } from 'tesser'

/** Decides which loans are open. */
export default definePlugin({
  name: 'lent',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
