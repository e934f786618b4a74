import { definePlugin } from 'tesser'

/** Shows some of the `passages` fixture only. */
export default definePlugin({ name: 'shelves', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
