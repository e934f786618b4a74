import { definePlugin } from 'tesser'

/** A dataclass with code around everything that is done to it. */
export default definePlugin({ name: 'noted', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
