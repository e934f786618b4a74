import { definePlugin } from 'tesser'

export default definePlugin({ name: 'summary', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
