import { definePlugin } from 'tesser'

/** Restrict events on the `company` fixture: one dataclass refers to entities that another one hides. */
export default definePlugin({
  name: 'hidden-companies',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
