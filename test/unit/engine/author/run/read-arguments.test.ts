import t from 'tap'
import { Type } from '@sinclair/typebox'
import type { JsonSchema } from '../../../../../engine/base/json-schema.ts'
import { parseArguments } from '../../../../../engine/author/run/read-arguments.ts'
import type { CallTask } from '../../../../../engine/author/run/tasks.ts'

const BOUNDS = { depth: 10, values: 100 }
const PAGE = Type.Object({ params: Type.Array(Type.Number()), page: Type.Integer() })

const parsed = (body: unknown, first?: JsonSchema): readonly unknown[] =>
  parseArguments(
    { args: JSON.stringify(body) } as CallTask,
    BOUNDS as Parameters<typeof parseArguments>[1],
    first && [{ name: 'first', schema: first, isOptional: false }],
  )

for (const [name, body, args, first] of [
  ['a list', [1, 2], [1, 2]],
  ['params', { params: [1, 2] }, [1, 2]],
  ['params with other members', { params: [1], page: 2 }, [1]],
  ['params of a function that declares something else', { params: [1], page: 2 }, [1], Type.Integer()],
  ['params that the function declares', { params: [1], page: 2 }, [{ params: [1], page: 2 }], PAGE],
  ['params of an alternative', { params: [1] }, [{ params: [1] }], Type.Union([Type.String(), PAGE])],
  ['an entity with an attribute params', { __ENTITY: true, params: [1] }, [{ __ENTITY: true, params: [1] }]],
  ['params that are no list', { params: 1 }, [{ params: 1 }]],
  ['a value', 5, [5]],
] as [string, unknown, unknown[], JsonSchema?][]) {
  t.test(name, async t => t.strictSame(parsed(body, first), args))
}
