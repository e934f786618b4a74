import { Type } from '@sinclair/typebox'
import { definePlugin } from 'tesser'

/** Class functions on the `company` fixture, as an author would write them. */
export default definePlugin({
  name: 'staff',
  kernel: '^1.0.0',
  options: Type.Object({ bonus: Type.Number({ default: 100 }) }),
  classes: new URL('./classes.ts', import.meta.url),
})
