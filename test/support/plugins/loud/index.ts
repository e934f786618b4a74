import { definePlugin } from 'tesser'

/** A calculated attribute of one dataclass; no code takes part in saves of the others. */
export default definePlugin({ name: 'loud', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
