import { definePlugin } from 'tesser'

/** Calculated attributes that return the same as each scalar attribute of an employee. */
export default definePlugin({
  name: 'mirrored',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
