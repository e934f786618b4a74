import { definePlugin } from 'tesser'

/** For each scalar attribute of an employee calculated ones that give the same. */
export default definePlugin({
  name: 'mirrored',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
