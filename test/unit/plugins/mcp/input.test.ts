import { Type } from '@sinclair/typebox'
import t from 'tap'
import { normalizedInput } from '../../../../plugins/mcp/input.ts'

const SCHEMA = Type.Object({
  name: Type.String(),
  list: Type.Optional(Type.Array(Type.Unknown())),
  count: Type.Optional(Type.Integer()),
  share: Type.Optional(Type.Number()),
  check: Type.Optional(Type.Boolean()),
  any: Type.Optional(Type.Unknown()),
})

/** Arguments as a model sends them, and as the tool receives them. */
const CASES: readonly (readonly [argument: string, sent: unknown, received: unknown])[] = [
  ['list', ['a'], ['a']],
  ['list', 'a', ['a']],
  ['list', '["a",1]', ['a', 1]],
  ['list', ' ["a"] ', ['a']],
  ['list', '[]', []],
  ['list', '', ['']],
  ['list', '[draft]', ['[draft]']],
  ['list', '["a"', ['["a"']],
  ['list', '[12345678901234567890]', ['12345678901234567890']],
  ['list', '[{"__proto__":{"a":1}}]', ['[{"__proto__":{"a":1}}]']],
  ['list', 80_000, [80_000]],
  ['list', { a: 1 }, [{ a: 1 }]],
  ['count', '5', 5],
  ['count', '-5', -5],
  ['count', '1.0', 1],
  ['count', '', ''],
  ['count', ' 5', ' 5'],
  ['count', '0x10', '0x10'],
  ['count', '1e3', '1e3'],
  ['count', 'five', 'five'],
  ['count', true, true],
  ['share', '0.5', 0.5],
  ['share', 'Infinity', 'Infinity'],
  ['check', 'true', true],
  ['check', 'false', false],
  ['check', 'yes', 'yes'],
  ['check', 1, 1],
  ['name', 8, '8'],
  ['name', 1.5, '1.5'],
  ['name', 12_345_678_901_234_567_890n, '12345678901234567890'],
  ['name', true, true],
  ['name', null, null],
  ['any', '5', '5'],
  ['any', '["a"]', '["a"]'],
  ['unknown', '5', '5'],
  ['constructor', '5', '5'],
]

t.test('arguments are read as the schema of the tool describes them', async t => {
  for (const [argument, sent, received] of CASES) {
    t.strictSame(
      normalizedInput(SCHEMA, { [argument]: sent }),
      { [argument]: received },
      `${argument}: ${String(sent)}`,
    )
  }
  t.strictSame(normalizedInput(SCHEMA, { list: null, count: null }), {}, 'null is missing')
})
