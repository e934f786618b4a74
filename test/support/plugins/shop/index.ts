import { definePlugin } from 'tesser'

/** Orders that code writes. */
export default definePlugin({
  name: 'shop',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
