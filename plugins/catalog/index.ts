import { describeAll, describeCatalog, describeDataClass } from '../../engine/index.ts'
import { definePlugin, json, type Reply } from '../../kernel/api.ts'

/**
 * `$catalog`: the structure of the data model, as far as it is public.
 *
 *   GET /$catalog                →  { dataClass: [{ name, uri, dataURI }] }, the same again as dataClasses
 *   GET /$catalog/$all           →  { dataClasses: [description, …] }
 *   GET /$catalog/{dataClass}    →  the description
 *   GET /$catalog/{A},{B}        →  { dataClasses: [description, …] }
 *
 * Source: base specification, 2.1 to 2.3 and 4.1; protocol notes, 3.1.
 */
export default definePlugin({
  name: 'catalog',
  kernel: '^1.0.0',
  register({ service, engine }) {
    service('$catalog', { verbs: ['GET'] }, ({ parts }): Reply => {
      const name = parts[0]
      if (name === undefined) return json(describeCatalog(engine.catalog))
      if (name === '$all') return json(describeAll(engine.catalog))
      if (!name.includes(',')) return json(describeDataClass(engine.dataClass(name)))
      const names = name.split(',').map(each => each.trim())
      return json({ dataClasses: names.map(each => describeDataClass(engine.dataClass(each))) })
    })
  },
})
