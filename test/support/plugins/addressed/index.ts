import { definePlugin } from 'tesser'

/** Functions that say which entities they got. */
export default definePlugin({
  name: 'addressed',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
