import { Type } from '@sinclair/typebox'
import { answerOf, fitting, type ToolResult } from '../answer.ts'
import { entityPath, jsonOf, nameIn } from '../ask.ts'
import { defineTool, type ToolContext } from '../tool.ts'
import { refusal } from '../tool-error.ts'

const MAX_ENTITIES = 500

export const write = defineTool({
  name: 'write',
  title: 'Save or delete entities',
  description:
    'Saves entities, all or none, or deletes one. For a new entity, give its attributes; for a changed one __KEY, __STAMP as read, and the changes. An N to 1 relation takes the key of the related entity. check: reports what would be refused, and saves nothing.',
  input: Type.Object(
    {
      class: Type.String({ minLength: 1, maxLength: 200 }),
      save: Type.Optional(
        Type.Array(Type.Record(Type.String(), Type.Unknown()), { minItems: 1, maxItems: MAX_ENTITIES }),
      ),
      check: Type.Optional(Type.Boolean()),
      delete: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'key' })),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run({ class: dataClass, save, check = false, delete: key }, context) {
    if ((save === undefined) === (key === undefined)) throw refusal('give either save or delete')
    if (save !== undefined) return saveEntities(dataClass, save, check, context)
    if (check) throw refusal('check goes with save; a deletion cannot be tried')
    await context.ask({ path: entityPath(dataClass, key!), parameters: { method: 'delete' }, body: [] })
    return answerOf({ deleted: key })
  },
})

interface Saved {
  readonly __KEY?: string
  readonly __STAMP?: number
}

async function saveEntities(
  dataClass: string,
  entities: readonly object[],
  check: boolean,
  { ask }: ToolContext,
): Promise<ToolResult> {
  const parameters = { method: check ? 'validate' : 'update', atomic: true }
  const answer = await ask({ path: nameIn(dataClass), parameters, body: entities })
  const { __ENTITIES = [] } = jsonOf(answer) as { readonly __ENTITIES?: readonly Saved[] }
  if (check) return answerOf({ wouldSave: entities.length })
  const keys = __ENTITIES.map(({ __KEY, __STAMP }) => ({ __KEY, __STAMP }))
  return answerOf(fitting(keys), { saved: keys.length })
}
