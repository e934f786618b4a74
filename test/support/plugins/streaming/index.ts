import { definePlugin } from 'tesser'

/** Functions whose values are sent as streams: `url` is that of a gate which the test opens. */
export default definePlugin({ name: 'streaming', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
