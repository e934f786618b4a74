import { definePlugin } from 'tesser'

/** Functions whose saves and queries are refused. */
export default definePlugin({
  name: 'refused',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
