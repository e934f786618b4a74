import { definePlugin, Type } from 'tesser'

export default definePlugin({
  name: 'my-plugin',
  kernel: '^1.0.0',
  options: Type.Object({ greeting: Type.String({ default: 'Hello' }) }),
  classes: new URL('./classes.ts', import.meta.url),
})
