import { definePlugin } from 'tesser'

/** Code that runs at each read and save, and does nothing. */
export default definePlugin({ name: 'watched', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
