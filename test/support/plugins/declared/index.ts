import { definePlugin } from 'tesser'

/** Functions with declared parameters and results, on the `company` fixture. */
export default definePlugin({
  name: 'declared',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
