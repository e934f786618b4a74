import { definePlugin } from 'tesser'

/** Jobs that write lines, wait for a gate or fail as told. */
export default definePlugin({
  name: 'queued',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
  model: {
    dataClasses: {
      Line: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' }, text: { type: 'string' } } },
      Order: { key: 'ID', attributes: { ID: { type: 'long' }, state: { type: 'string' } } },
    },
  },
})
