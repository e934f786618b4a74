import { definePlugin } from 'tesser'

/** A function that waits. */
export default definePlugin({ name: 'waiting', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
