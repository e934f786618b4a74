import { definePlugin, json, Type } from 'tesser'

export default definePlugin({
  name: 'my-plugin',
  kernel: '^1.0.0',
  options: Type.Object({ greeting: Type.String({ default: 'Hello' }) }),
  classes: new URL('./classes.ts', import.meta.url),
  // Addresses of its own, parameters and commands: `GET /greeting`
  register({ route }, { greeting }) {
    route('/greeting', { verbs: ['GET'] }, () => json({ greeting }))
  },
})
