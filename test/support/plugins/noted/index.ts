import { definePlugin, json } from 'tesser'

/** A dataclass with code for every operation, and a route. */
export default definePlugin({
  name: 'noted',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
  register({ route }) {
    route('/noted', { verbs: ['GET', 'POST'] }, async request =>
      json({ given: request.verb === 'POST' ? JSON.stringify(await request.json()).length : request.parameters.size }),
    )
  },
})
