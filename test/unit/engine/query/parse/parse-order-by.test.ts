import t from 'tap'
import { formatOrderBy } from '../../../../support/engine/format-query.ts'
import { parseOrderBy } from '../../../../../engine/query/parse/parse-order-by.ts'

const cases = [
  { name: 'one attribute is ascending', text: 'lastName', prints: 'lastName' },
  { name: 'directions are written in any case', text: 'a DESC,b Asc , c desc', prints: 'a desc, b, c desc' },
  {
    name: 'paths go through relations and objects',
    text: 'employer.name,obj.prop desc',
    prints: 'employer.name, obj.prop desc',
  },
  { name: 'an attribute may have the name of a direction', text: 'desc desc, asc', prints: 'desc desc, asc' },
  { name: 'a name with blanks is quoted', text: '"first name" desc', prints: '"first name" desc' },
  { name: 'an empty text has no order', text: ' ', prints: '' },
]

for (const { name, text, prints } of cases) {
  t.test(`notes 1.6: ${name}`, async t => {
    t.equal(formatOrderBy(parseOrderBy(text)), prints)
  })
}

t.test('notes 1.6: a term has a path and a direction', async t => {
  t.strictSame(parseOrderBy('a.b desc'), [
    {
      path: {
        kind: 'path',
        steps: [
          { name: 'a', classIndex: undefined, element: undefined },
          { name: 'b', classIndex: undefined, element: undefined },
        ],
        span: { start: 0, end: 3 },
      },
      descending: true,
    },
  ])
})

for (const text of [
  'a,',
  ',a',
  'a b',
  'a desc asc',
  'a..b',
  '= 1',
  ':1',
  'order by a',
  'a = 1',
  `${'a,'.repeat(100)}a`,
]) {
  t.test(`the order "${text.slice(0, 20)}" is refused with 1810`, async t => {
    t.throws(() => parseOrderBy(text), { httpStatus: 400, entries: [{ errCode: 1810 }], message: /sort order/ })
  })
}
