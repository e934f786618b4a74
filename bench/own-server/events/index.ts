import { definePlugin } from 'tesser'

/** Events of saves, and jobs. */
export default definePlugin({ name: 'events', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
