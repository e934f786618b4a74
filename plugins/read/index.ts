import { definePlugin, encoded } from '../../kernel/api.ts'

/**
 * Reading: what a GET on a dataclass means when no command takes it.
 *
 *   GET /{dataClass}                       →  a collection (base specification, 2.6)
 *   GET /{dataClass}({key})                →  an entity (2.5); also [{key}] and :{attribute}({value})
 *   GET /{dataClass}({key},{key})          →  a collection
 *
 * The address and the parameter plugins have put the read together. Source: base specification, 4.2.
 */
export default definePlugin({
  name: 'read',
  kernel: '^1.0.0',
  register({ verb, engine }) {
    verb('GET', ({ read, transport }) => encoded(engine.read(read, transport)))
  },
})
