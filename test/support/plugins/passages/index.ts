import { definePlugin } from 'tesser'

/** Functions that search the vectors of the `passages` fixture. */
export default definePlugin({ name: 'passages', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
