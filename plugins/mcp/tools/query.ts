import { Type } from '@sinclair/typebox'
import { PAGE, SELECTION, showEntities } from '../entities.ts'
import { defineTool } from '../tool.ts'

export const query = defineTool({
  name: 'query',
  takesParameters: true,
  title: 'Read entities',
  description:
    'Returns the entities of a class that a filter selects, sorted, with the named attributes, also over relations.',
  input: Type.Object(
    {
      ...SELECTION,
      orderBy: Type.Optional(Type.String({ maxLength: 2_000, description: 'population desc, name' })),
      ...PAGE,
    },
    { additionalProperties: false },
  ),
  run: showEntities,
})
