import { Type } from '@sinclair/typebox'
import { boundedAnswer } from '../answer.ts'
import { jsonOf, nameIn } from '../ask.ts'
import { SELECTION, selectionOf } from '../entities.ts'
import { defineTool } from '../tool.ts'
import { refusal } from '../tool-error.ts'

const FUNCTIONS = ['count', 'countDistinct', 'sum', 'average', 'min', 'max', 'all', 'values']
const VALUES = 50

export const aggregate = defineTool({
  name: 'aggregate',
  title: 'Count and sum up',
  description:
    'Computes an aggregate of one attribute on the server, over all entities that a filter selects. values: its distinct values with their numbers of entities, the most frequent first.',
  input: Type.Object(
    {
      ...SELECTION,
      function: Type.Unsafe<string>({ type: 'string', enum: FUNCTIONS }),
      attribute: Type.Optional(
        Type.String({ minLength: 1, maxLength: 500, description: 'a name or path; without it, count counts entities' }),
      ),
      top: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: `of values, default ${VALUES}` })),
    },
    { additionalProperties: false },
  ),
  async run(input, { ask }) {
    const { class: dataClass, function: operation, attribute, top = VALUES } = input
    if (attribute?.includes(',')) throw refusal(`name one attribute; received ${attribute.slice(0, 200)}`)
    if (!attribute && operation !== 'count') throw refusal(`${operation} takes an attribute`)
    const aggregation = operation === 'values' ? { distinct: true, counts: true, top } : { compute: operation }
    const answer = await ask({
      path: nameIn(dataClass),
      parameters: { ...selectionOf(input), attributes: attribute, ...aggregation },
    })
    return boundedAnswer(jsonOf(answer))
  },
})
