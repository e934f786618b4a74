import { definePlugin } from 'tesser'

/** Restrict events that show only a part of the `passages` fixture. */
export default definePlugin({ name: 'shelves', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
