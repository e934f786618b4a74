import { definePlugin } from 'tesser'

/** Functions that do what functions must not do. */
export default definePlugin({ name: 'abuse', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
