import { definePlugin } from 'tesser'

/** Functions that wait for a service: `url` is that of a gate which the test opens. */
export default definePlugin({ name: 'waiting', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
