import { definePlugin } from 'tesser'

/** Rules of a library, about entities in one database. */
export default definePlugin({
  name: 'library',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
