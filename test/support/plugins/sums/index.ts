import { definePlugin } from 'tesser'

/** Sums by code, of two dataclasses with the same attributes. */
export default definePlugin({
  name: 'sums',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
