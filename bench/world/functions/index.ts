import { definePlugin } from 'tesser'

/** Class functions on the world. */
export default definePlugin({ name: 'bench', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
