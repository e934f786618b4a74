import { definePlugin } from 'tesser'

/** Code of notes that are in a database and have users. */
export default definePlugin({
  name: 'notes',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
