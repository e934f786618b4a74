import t from 'tap'
import { formatQuery } from '../../../../support/engine/format-query.ts'
import { TEXT_LIMITS } from '../../../../../engine/query/parse/limits.ts'
import { parseQuery } from '../../../../../engine/query/parse/parse-query.ts'
import { WARM_UP_QUERIES } from '../../../../../engine/query/parse/warm-up.ts'
import type { Comparator, Expression, ValueSyntax } from '../../../../../engine/query/parse/syntax-tree.ts'

function comparison(text: string): Extract<Expression, { kind: 'comparison' }> {
  const { condition } = parseQuery(text)
  if (condition?.kind !== 'comparison') throw new Error(`"${text}" is no comparison`)
  return condition
}

const spellings: Record<Comparator, string[]> = {
  equal: ['=', '==', 'like', 'eq', 'LIKE', 'Eq'],
  notEqual: ['!=', '#', '= not', '== not', 'like not', '=not', 'LIKE  NOT'],
  is: ['===', 'is', 'eqeq', 'IS'],
  isNot: ['!==', '##', 'isnot', 'nene', 'is not', '=== not', 'IsNot'],
  less: ['<', 'lt'],
  lessOrEqual: ['<=', 'lte', 'lteq'],
  greater: ['>', 'gt'],
  greaterOrEqual: ['>=', 'gte', 'gteq'],
  begin: ['begin', 'BEGIN'],
  in: ['in', 'IN'],
  keyword: ['%', '%%'],
}

for (const query of WARM_UP_QUERIES)
  t.test(`the warm-up query ${query} can be parsed`, async () => void parseQuery(query))

for (const [comparator, words] of Object.entries(spellings)) {
  for (const word of words) {
    t.test(`notes 2.3: ${word} is ${comparator}`, async t => {
      t.equal(comparison(`name ${word} :1`).comparator, comparator)
      t.equal(comparison(`name ${word} "x"`).comparator, comparator)
    })
  }
}

t.test('notes 2.2: operators need no blanks around them', async t => {
  t.equal(
    formatQuery(parseQuery('salary>20000&employer.name!=acme|!woman^a<=-5')),
    'salary > 20000 and employer.name != acme or not woman except a <= -5',
  )
})

/** A query and its printed form, with one spelling of each operator. */
const texts: { notes: string; name: string; text: string; prints: string }[] = [
  { notes: '2.1', name: 'an empty text has no condition', text: ' \t\r\n', prints: '' },
  { notes: '2.1', name: 'parentheses stay', text: '((a=1))', prints: '((a = 1))' },
  {
    notes: '2.1',
    name: 'keywords are written in any case',
    text: 'a=1 AND NOT b=2 Or c=3',
    prints: 'a = 1 and not b = 2 or c = 3',
  },
  { notes: '2.1', name: 'and has three spellings', text: 'a and b & c && d', prints: 'a and b and c and d' },
  { notes: '2.1', name: 'or has three spellings', text: 'a or b | c || d', prints: 'a or b or c or d' },
  { notes: '2.1', name: 'except has two spellings', text: 'a except b ^ c', prints: 'a except b except c' },
  {
    notes: '2.1',
    name: 'a keyword needs no blank before a parenthesis',
    text: 'not(a)and(b)',
    prints: 'not (a) and (b)',
  },
  {
    notes: '2.1',
    name: 'longer words are not keywords',
    text: 'note = 1 and order.by = 2 and nothing',
    prints: 'note = 1 and order.by = 2 and nothing',
  },
  { notes: '2.2', name: 'a bare word may hold quotes', text: `lastName=O'Reilly`, prints: `lastName = O'Reilly` },
  { notes: '2.2', name: 'a bare word ends at an operator', text: 'a=b&c=d', prints: 'a = b and c = d' },
  {
    notes: '2.2',
    name: 'a bare word may hold most signs',
    text: 'a=2020-01-31T10:00:00.5Z+[x],{y}@',
    prints: 'a = 2020-01-31T10:00:00.5Z+[x],{y}@',
  },
  {
    notes: '2.2',
    name: 'a word may follow a quoted one at once',
    text: `a='x'or b="y"order by a`,
    prints: 'a = "x" or b = "y" order by a',
  },
  { notes: '2.2', name: 'quoted text has no escapes', text: `a = "C:\\"`, prints: `a = "C:\\"` },
  { notes: '2.2', name: 'the other kind of quote is literal', text: `a = 'say "hi"'`, prints: `a = 'say "hi"'` },
  {
    notes: 'spec 4.3.1',
    name: 'a quote may be written as a character code',
    text: `a = 'O\\u0027R' and b = x\\u0022`,
    prints: `a = "O'R" and b = x"`,
  },
  { notes: '2.2', name: 'escaped quotes are quotes', text: 'a = \\"x y\\"', prints: 'a = "x y"' },
  { notes: '2.3', name: 'an attribute alone is a condition', text: 'woman and age > 30', prints: 'woman and age > 30' },
  { notes: '2.3', name: 'not may be written as !', text: '!woman and !!(a)', prints: 'not woman and not not (a)' },
  {
    notes: '2.7',
    name: 'a list holds words and quoted texts',
    text: `a in [x, "y,]", 'z', 5 6 ,"\\u0041\\""]`,
    prints: 'a in [x, "y,]", "z", 5 6, "A\\""]',
  },
  { notes: '2.7', name: 'a list may be empty', text: 'a in []', prints: 'a in []' },
  {
    notes: '2.7',
    name: 'a list may have escaped quotes',
    text: 'a in [\\"x\\",\\"y z\\"]',
    prints: 'a in ["x", "y z"]',
  },
  {
    notes: '2.7',
    name: 'character codes of quotes may delimit a text',
    text: "a = \\u0022x y\\u0022 and b = \\u0027it's\\u0027 and c=\\u0022\\u0022",
    prints: `a = "x y" and b = "it's" and c = ""`,
  },
  {
    notes: '2.7',
    name: 'codes of quotes inside a word are part of the delimited text',
    text: 'a = \\u0022say \\u0022hi\\u0022',
    prints: `a = 'say "hi'`,
  },
  {
    notes: '2.7',
    name: 'character codes of quotes may delimit texts of a list',
    text: 'a in [\\u0022x\\u0022, \\u0022y z\\u0022,\\u0027,\\u0027]',
    prints: 'a in ["x", "y z", ","]',
  },
  {
    notes: '2.7',
    name: 'a code that is not closed is part of a word',
    text: 'a = \\u0022x and b = \\u0022y\\u0022z',
    prints: 'a = \\u0022x and b = \\u0022y"z',
  },
  {
    notes: '2.7',
    name: 'text of a list that is not JSON is taken literally',
    text: 'a in ["C:\\data"]',
    prints: 'a in ["C:\\\\data"]',
  },
  {
    notes: '2.8',
    name: 'null is written in any case',
    text: 'a = null and b is NULL and c = nullable',
    prints: 'a = null and b === null and c = nullable',
  },
  {
    notes: '2.9',
    name: 'paths may have class indices',
    text: 'roles.actor{2}.lastName=:1',
    prints: 'roles.actor{2}.lastName = :1',
  },
  {
    notes: '2.10',
    name: 'paths may lead into collections',
    text: 'o.c[].n=1 and o.c[A].x = 2 and o.c.length > 2',
    prints: 'o.c[].n = 1 and o.c[a].x = 2 and o.c.length > 2',
  },
  { notes: '2.10', name: 'a fixed position is a property of that name', text: 'o.c[0].x = 1', prints: 'o.c.0.x = 1' },
  { notes: '2.10', name: 'paths may be of any script', text: 'имя.größe = 1', prints: 'имя.größe = 1' },
  {
    notes: '2.2',
    name: 'a quoted path may hold anything else',
    text: `"first name" = 1 and 'a=b.c d[]' = 2`,
    prints: '"first name" = 1 and "a=b.c d[]" = 2',
  },
  {
    notes: '2.11',
    name: 'placeholders have numbers and names',
    text: 'a=:1 and b=:x.y and c=:$userid',
    prints: 'a = :1 and b = :x.y and c = :$userid',
  },
  {
    notes: '2.11',
    name: 'a placeholder may stand for an attribute',
    text: ':1 = 1234 and not :2',
    prints: ':1 = 1234 and not :2',
  },
  {
    notes: '2.13',
    name: 'an order may follow',
    text: 'a="s@" ORDER  BY campus.name DESC, lastname',
    prints: 'a = "s@" order by campus.name desc, lastname',
  },
  { notes: '2.13', name: 'an order may stand alone', text: 'order by a asc, b', prints: 'order by a, b' },
]

for (const { notes, name, text, prints } of texts) {
  t.test(`notes ${notes}: ${name}`, async t => {
    t.equal(formatQuery(parseQuery(text)), prints)
    t.equal(formatQuery(parseQuery(prints)), prints, 'printing is stable')
  })
}

t.test('notes 2.4: conjunctions associate to the left without precedence', async t => {
  t.match(parseQuery('a or b and c except d').condition, {
    kind: 'except',
    left: { kind: 'and', left: { kind: 'or' }, right: { path: { steps: [{ name: 'c' }] } } },
    right: { path: { steps: [{ name: 'd' }] } },
  })
})

t.test('notes 2.4: not binds to the next condition or group only', async t => {
  t.match(parseQuery('not a = 1 and b').condition, {
    kind: 'and',
    left: { kind: 'not', operand: { kind: 'comparison' } },
  })
  t.match(parseQuery('not (a or b) and c').condition, {
    kind: 'and',
    left: { kind: 'not', operand: { kind: 'group' } },
  })
})

const values: { text: string; value: ValueSyntax }[] = [
  { text: 'a = 20', value: { kind: 'literal', text: '20', quoted: false, span: { start: 4, end: 6 } } },
  { text: 'a = "20"', value: { kind: 'literal', text: '20', quoted: true, span: { start: 4, end: 8 } } },
  { text: 'a = "null"', value: { kind: 'literal', text: 'null', quoted: true, span: { start: 4, end: 10 } } },
  { text: 'a = null ', value: { kind: 'null', span: { start: 4, end: 8 } } },
  { text: 'a = :b.c ', value: { kind: 'placeholder', path: ['b', 'c'], span: { start: 4, end: 8 } } },
  {
    text: 'a in [1,"2"] ',
    value: {
      kind: 'list',
      items: [
        { text: '1', quoted: false },
        { text: '2', quoted: true },
      ],
      span: { start: 5, end: 12 },
    },
  },
]

for (const { text, value } of values) {
  t.test(`notes 2.7: the value of ${text}`, async t => {
    t.strictSame(comparison(text).value, value)
  })
}

t.test('spans cover the source text without surrounding blanks', async t => {
  const text = '  not ( a = 1 )  and  b  order by c '
  const slice = ({ span }: { span: { start: number; end: number } }) => text.slice(span.start, span.end)
  const { condition, orderBy } = parseQuery(text)
  if (condition?.kind !== 'and' || condition.left.kind !== 'not') throw new Error('another shape')
  t.equal(slice(condition), 'not ( a = 1 )  and  b')
  t.equal(slice(condition.left), 'not ( a = 1 )')
  t.equal(slice(condition.left.operand), '( a = 1 )')
  t.equal(slice(condition.right), 'b')
  t.equal(slice(orderBy[0]!.path), 'c')
})

const failures: { text: string; errCode: number; says: string }[] = [
  { text: 'name=New York', errCode: 1112, says: 'at character 10, near "York": expected .*a conjunction' },
  { text: 'a=1 xor b=2', errCode: 1112, says: 'character 5, near "xor b=2"' },
  { text: 'a =< 5', errCode: 1112, says: 'character 3, .*a comparator' },
  { text: 'a <> 5', errCode: 1112, says: 'character 3' },
  { text: 'a not in [1]', errCode: 1112, says: 'character 3' },
  { text: 'salary 20000', errCode: 1112, says: 'near "20000": expected .*a comparator' },
  { text: '"😀" = 1 b = 2', errCode: 1112, says: 'at character 9' },
  { text: 'a matches "x"', errCode: 1112, says: '"matches" at character 3 would need regular expressions' },
  { text: 'a =% "x"', errCode: 1112, says: 'regular expressions' },
  { text: 'a !%* "x"', errCode: 1112, says: 'regular expressions' },
  { text: 'a = "x" "y"', errCode: 1112, says: 'near ""y"": expected .*a conjunction' },
  { text: 'a =', errCode: 1201, says: 'character 4, where it ends: expected .*a value' },
  { text: 'a = not', errCode: 1201, says: 'a value' },
  { text: 'a = ("x")', errCode: 1201, says: 'a value' },
  { text: 'a = 1 and', errCode: 1201, says: 'an attribute' },
  { text: '= 5', errCode: 1201, says: 'character 1, .*an attribute' },
  { text: '(a = 1', errCode: 1201, says: 'expected "\\)"' },
  { text: '(a in [1] ', errCode: 1201, says: 'where it ends: expected "\\)".*a conjunction' },
  { text: 'a = 1)', errCode: 1201, says: 'no "\\(" is open' },
  { text: 'a = "x', errCode: 1201, says: 'character 5, near ""x": expected a closing "' },
  { text: "a = 'x", errCode: 1201, says: "expected a closing '" },
  { text: 'a in [1', errCode: 1201, says: 'expected "\\]"' },
  { text: 'a in [1,]', errCode: 1201, says: 'character 9' },
  { text: 'a in [:1]', errCode: 1201, says: 'character 7' },
  { text: 'a{0} = 1', errCode: 1201, says: 'from \\{1\\} to \\{999\\}' },
  { text: 'a[bc] = 1', errCode: 1201, says: 'a letter such as \\[a\\]' },
  { text: 'a. = 1', errCode: 1201, says: 'a name after "\\."' },
  { text: 'a = :', errCode: 1201, says: 'character 5' },
  { text: 'order by', errCode: 1201, says: 'an attribute' },
  { text: 'a order by b,', errCode: 1201, says: 'an attribute' },
  { text: 'order by a down', errCode: 1201, says: 'asc or desc' },
  { text: 'eval(name) = 1', errCode: 1278, says: '"eval\\(name\\)" at character 1' },
  { text: 'a = 1 and EVAL ( "x)" )', errCode: 1278, says: 'at character 11' },
  { text: 'not (eval((1)))', errCode: 1278, says: '"eval\\(\\(1\\)\\)"' },
  { text: '$(name)', errCode: 1278, says: '"\\$\\(name\\)"' },
  { text: 'eval(', errCode: 1278, says: 'formulas' },
  { text: 'a = eval(1)', errCode: 1278, says: 'at character 5' },
  { text: 'length(name) > 3', errCode: 1278, says: '"length\\(name\\)"' },
]

for (const { text, errCode, says } of failures) {
  t.test(`${text} is refused with ${errCode}`, async t => {
    t.throws(() => parseQuery(text), { httpStatus: 400, entries: [{ errCode }], message: new RegExp(`.*${says}`) })
  })
}

const tooMuch: { name: string; text: string; says: RegExp }[] = [
  { name: 'a text beyond 64 K', text: 'a'.repeat(TEXT_LIMITS.maxTextLength + 1), says: /65537 characters/ },
  { name: 'parentheses one too deep', text: `${'('.repeat(201)}a${')'.repeat(201)}`, says: /200 levels/ },
  { name: 'parentheses without an end', text: '('.repeat(60_000), says: /200 levels/ },
  { name: 'a formula without an end', text: `eval${'('.repeat(60_000)}`, says: /200 levels/ },
  { name: 'nots without a condition', text: '!'.repeat(60_000), says: /where it ends/ },
  { name: 'too many nots', text: `${'not '.repeat(201)}a`, says: /200 levels/ },
  { name: 'too many conditions', text: `${'a=1 or '.repeat(8_500)}a=1`, says: /8501 conditions, at most 2000/ },
  { name: 'a path without an end', text: 'a.'.repeat(30_000), says: /a name after/ },
  { name: 'a path of too many steps', text: `${'a.'.repeat(100)}a = 1`, says: /100 steps/ },
  { name: 'too long an order', text: `order by ${'a,'.repeat(100)}a`, says: /101 attributes/ },
]

for (const { name, text, says } of tooMuch) {
  t.test(`${name} is refused`, async t => {
    t.throws(() => parseQuery(text), { httpStatus: 400, message: says })
  })
}

t.test('queries within the limits are parsed', async t => {
  t.ok(parseQuery(`${'('.repeat(200)}a=1${')'.repeat(200)}`).condition)
  t.ok(parseQuery(`${'a=1 or '.repeat(1_999)}a=1`).condition)
  t.equal(parseQuery(`a = "${'x'.repeat(60_000)}"`).orderBy.length, 0)
})
