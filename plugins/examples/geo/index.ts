import { definePlugin, Type } from 'tesser'

/** Geographic functions on the cities of the demo. */
export default definePlugin({
  name: 'tesser-example-geo',
  kernel: '^1.0.0',
  options: Type.Object({
    /** Mean radius, with which distances are measured. */
    earthRadiusKm: Type.Number({ default: 6371, exclusiveMinimum: 0 }),
    /** Maximum distance of `near`, which bounds the work that a client can request. */
    maxDistanceKm: Type.Number({ default: 1000, exclusiveMinimum: 0 }),
  }),
  classes: new URL('./classes.ts', import.meta.url),
})
