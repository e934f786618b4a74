import { Type } from '@sinclair/typebox'
import { type ClassFunction, type JsonSchema, visibleSchema } from '../../../engine/index.ts'
import type { PluginEngine, RestRequest } from '../../../kernel/api.ts'
import { jsonOf, nameIn } from '../ask.ts'
import { MAX_ANSWER_BYTES } from '../answer.ts'
import { type CatalogText, type DataClass, detailOf, overviewOf } from '../catalog-text.ts'
import type { Method } from '../signature-text.ts'
import { defineTool } from '../tool.ts'

/** Maximum size of a catalog: enough for the descriptions of thousands of dataclasses. */
const MAX_CATALOG_BYTES = 16 * 2 ** 20

export const describe = defineTool({
  name: 'describe',
  title: 'Describe the data model',
  description:
    'Lists the classes that you may see, as briefly as their number demands; with class, all details of some classes. Begin here.',
  input: Type.Object(
    {
      class: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 20, description: 'names' }),
      ),
      match: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'a part of the names of classes or attributes' }),
      ),
    },
    { additionalProperties: false },
  ),
  async run({ class: names, match }, { ask, scope, request }) {
    const path = `$catalog/${names ? names.map(nameIn).join(',') : '$all'}`
    const catalog = jsonOf(await ask({ path, maxBytes: MAX_CATALOG_BYTES })) as CatalogText | DataClass
    const fullCatalog = addDeclarations(
      'attributes' in catalog ? { dataClasses: [catalog] } : catalog,
      scope.engine,
      request,
    )
    const text = names ? detailOf(fullCatalog) : overviewOf(fullCatalog, match)
    return { content: [{ type: 'text', text: cut(text) }] }
  },
})

/** Adds what authors have declared to the functions that the catalog shows, without dataclasses that it does not show. */
function addDeclarations(
  { dataClasses, methods = [], singletons = [] }: CatalogText,
  { classes }: PluginEngine,
  { view }: RestRequest,
): CatalogText {
  const keepVisible = (schema: JsonSchema): JsonSchema => visibleSchema(schema, name => view.find(name) !== undefined)
  const withDeclaration = (method: Method, classFunction: ClassFunction | undefined): Method => {
    const { parameters, result } = classFunction ?? {}
    return {
      ...classFunction,
      ...(parameters && { parameters: parameters.map(each => ({ ...each, schema: keepVisible(each.schema) })) }),
      ...(result && { result: keepVisible(result) }),
      ...method,
    }
  }
  return {
    dataClasses: dataClasses.map(each => ({
      ...each,
      methods: (each.methods ?? []).map(method =>
        withDeclaration(method, classes.find(each.name, method.name, method.applyTo === 'entity')),
      ),
    })),
    methods: methods.map(method => withDeclaration(method, classes.dataStore.get(method.name))),
    singletons: singletons.map(({ name, methods }) => ({
      name,
      methods: methods.map(method => withDeclaration(method, classes.singletons.get(name)?.get(method.name))),
    })),
  }
}

/** Cuts a text that is too long, at the end of a line. */
function cut(text: string): string {
  const hint = '\n… there is no room for more; name fewer classes, or use match'
  if (Buffer.byteLength(text) <= MAX_ANSWER_BYTES) return text
  const room = Buffer.from(text)
    .subarray(0, MAX_ANSWER_BYTES - Buffer.byteLength(hint))
    .toString()
  return room.slice(0, room.lastIndexOf('\n')) + hint
}
