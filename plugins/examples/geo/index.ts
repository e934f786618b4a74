import { definePlugin, Type } from 'tesser'

/** Functions of places, on the cities of the demo. */
export default definePlugin({
  name: 'tesser-example-geo',
  kernel: '^1.0.0',
  options: Type.Object({
    /** Mean radius: what distances are measured with. */
    earthRadiusKm: Type.Number({ default: 6371, exclusiveMinimum: 0 }),
    /** Farthest that `near` looks, which bounds what a client can ask for. */
    maxDistanceKm: Type.Number({ default: 1000, exclusiveMinimum: 0 }),
  }),
  classes: new URL('./classes.ts', import.meta.url),
})
