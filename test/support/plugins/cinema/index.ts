import { definePlugin } from 'tesser'

/** Code of the `cinema` fixture, whose entities are in a database. */
export default definePlugin({
  name: 'cinema',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
