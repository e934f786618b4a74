import { receiveParams } from '../../engine/index.ts'
import { definePlugin, type ParameterSpec, SELECTIONS } from '../../kernel/api.ts'

/**
 * `$filter` narrows a selection; `$params` holds the values of its placeholders.
 *
 *   GET /Employee?$filter="salary > :1 and employer.name = :2"&$params='[20000,"acme"]'
 *
 * The language is described in `engine/query/README.md`. Source: base specification, 4.3.1; protocol notes, 1.3 and 2.
 */
export default definePlugin({
  name: 'filter',
  kernel: '^1.0.0',
  register({ parameter, engine }) {
    parameter(
      '$filter',
      {
        schema: { type: 'string', format: 'condition' },
        doc: 'Narrows the selection: `salary > 40000 and employer.name = :1`.',
        on: [...SELECTIONS, 'call'],
        selects: true,
        section: '4.3.1',
      },
      (read, _value, request) => {
        read.filter = request.text('$filter')!
      },
    )
    parameter(
      '$params',
      {
        schema: {
          type: 'string',
          contentMediaType: 'application/json',
          contentSchema: {
            anyOf: [
              { type: 'array', items: {} },
              { type: 'object', additionalProperties: true },
            ],
          },
        },
        doc: 'Values of the placeholders of `$filter` as JSON: `["Paris", true]` for `:1`, `:2` …, or an object for `:name`.',
        example: '[]',
        on: [...SELECTIONS, 'related', 'deleteSelection'],
        selects: true,
        section: '4.3.1',
      },
      (read, value) => {
        read.params = receiveParams(value, engine.limits)
      },
    )
    for (const [name, spec] of OF_DELETIONS) parameter(name, spec)
  },
})

/** The same parameters in deletions. */
const OF_DELETIONS: readonly (readonly [`$${string}`, ParameterSpec])[] = [
  [
    '$filter',
    {
      schema: { type: 'string', format: 'condition' },
      doc: 'Selects the entities to delete.',
      on: ['deleteSelection'],
      required: true,
      section: '4.4',
    },
  ],
  // Without examples, because tools would send them with saves.
  [
    '$filter',
    {
      schema: { type: 'string' },
      doc: 'With `$method=delete`: selects the entities to delete.',
      on: ['delete'],
      section: '4.4',
    },
  ],
  [
    '$params',
    {
      schema: { type: 'string', contentMediaType: 'application/json' },
      doc: 'Values of the placeholders of `$filter`, as JSON.',
      on: ['delete'],
      section: '4.4',
    },
  ],
]
