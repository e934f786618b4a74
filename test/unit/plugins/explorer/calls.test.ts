import t from 'tap'
import {
  argumentsOf,
  type Callable,
  idOf,
  outcomeOf,
  readArgument,
  requestOf,
} from '../../../../plugins/explorer/page/call/calls.ts'

t.test('an argument is JSON, or else a text', t => {
  for (const [text, kind, value] of [
    ['12', 'number', 12],
    ['"12"', 'text', '12'],
    ['Ada Lovelace', 'text', 'Ada Lovelace'],
    ['12 Main Street', 'text', '12 Main Street'],
    ['true', 'bool', true],
    ['null', 'null', null],
    [' [1, 2] ', 'array', [1, 2]],
    ['{"a": 1}', 'object', { a: 1 }],
    ['  ', 'empty', null],
  ] as const) {
    t.strictSame(readArgument(text), { kind, value }, text)
  }
  for (const text of ['{"a": }', '[1,', '"open']) t.equal(readArgument(text).kind, 'wrong', text)
  t.strictSame(argumentsOf(['1', '', 'x', ' ', '']), [1, null, 'x'])
  t.strictSame(argumentsOf(['', '']), [])
  t.end()
})

t.test('a call as a request', t => {
  const entity: Callable = { name: 'raise', applyTo: 'entity', owner: 'Employee' }
  const call = { args: ['5'], byGet: false, keeps: false }
  t.same(requestOf({ callable: entity, ...call }, 'Employee(1)', { $filter: '"ID>1"' }), {
    path: 'Employee(1)/raise',
    parameters: {},
    body: [5],
  })
  const selection: Callable = { name: 'names', applyTo: 'entityCollection', owner: 'Employee' }
  t.same(
    requestOf({ callable: selection, ...call, args: [], keeps: true }, 'Employee/$entityset/A', { $filter: '"ID>1"' }),
    { path: 'Employee/$entityset/A/names', parameters: { $filter: '"ID>1"', $method: 'entityset' }, body: [] },
  )
  const singleton: Callable = { name: 'next', applyTo: 'singleton', owner: 'Counter', allowedOnHTTPGET: true }
  t.same(requestOf({ callable: singleton, ...call, args: ['é', '1'], byGet: true }, ''), {
    path: '$singleton/Counter/next',
    parameters: { $params: '["é",1]' },
    body: undefined,
  })
  t.equal(requestOf({ callable: { ...selection, applyTo: 'dataStore' }, ...call }, '').path, '$catalog/names')
  t.same([entity, singleton].map(idOf), ['entity.raise', 'singleton.Counter.next'])
  t.end()
})

t.test('kinds of answers', t => {
  t.same(outcomeOf({ result: 5 }), { kind: 'value', value: 5 })
  t.same(outcomeOf({}), { kind: 'value', value: {} })
  t.same(outcomeOf([1]), { kind: 'value', value: [1] })
  t.match(outcomeOf({ __entityModel: 'City', __KEY: '1', name: 'x' }), { kind: 'entity', dataClass: 'City' })
  t.same(
    outcomeOf({
      __ENTITYSET: '/a/rest/City/$entityset/0F',
      __DATACLASS: 'City',
      __COUNT: 9,
      __ENTITIES: [{ __KEY: '1' }],
    }),
    { kind: 'selection', dataClass: 'City', count: 9, entities: [{ __KEY: '1' }], set: '0F' },
  )
  t.end()
})
