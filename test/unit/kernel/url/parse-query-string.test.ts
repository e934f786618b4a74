import t from 'tap'
import { parseQueryString } from '../../../../kernel/url/parse-query-string.ts'

const cases: { notes: string; name: string; raw: string; parameters: Record<string, string> }[] = [
  { notes: '1.2', name: 'pairs are split at &', raw: '$top=4&$skip=2', parameters: { $top: '4', $skip: '2' } },
  { notes: '1.2', name: 'a value keeps its second =', raw: '$filter=ID=11', parameters: { $filter: 'ID=11' } },
  { notes: '1.2', name: 'a later pair replaces an earlier one', raw: '$top=1&$top=2', parameters: { $top: '2' } },
  {
    notes: '1.2',
    name: 'a name without = has an empty value',
    raw: '$clean&$top=1',
    parameters: { $clean: '', $top: '1' },
  },
  { notes: '1.2', name: 'empty pairs and empty names vanish', raw: '&&=1&$top=1&', parameters: { $top: '1' } },
  { notes: '1.2', name: 'a name may be encoded', raw: '%24top=1', parameters: { $top: '1' } },
  {
    notes: '1.2',
    name: 'a quote opens after an encoded line break, whose digits are not a word',
    raw: "$filter=name%20=%0A'Smith & Sons'&$top=1",
    parameters: { $filter: "name =\n'Smith & Sons'", $top: '1' },
  },
  {
    notes: '1.2',
    name: 'double quotes around a value are removed',
    raw: '$filter="x=1"',
    parameters: { $filter: 'x=1' },
  },
  {
    notes: '1.2',
    name: 'single quotes around a value are removed',
    raw: "$filter='x=1'",
    parameters: { $filter: 'x=1' },
  },
  {
    notes: '1.2',
    name: 'an empty quoted value is empty',
    raw: '$filter=""&$top=1',
    parameters: { $filter: '', $top: '1' },
  },
  {
    notes: '1.2',
    name: 'the other kind of quotes inside is kept',
    raw: `$filter="name='a@'"`,
    parameters: { $filter: "name='a@'" },
  },
  {
    notes: '1.2',
    name: 'quotes around JSON are removed and those inside are kept',
    raw: `$params='["a",1]'`,
    parameters: { $params: '["a",1]' },
  },
  {
    notes: '1.2',
    name: 'JSON without quotes around keeps those inside',
    raw: '$params=["a",1]&$top=1',
    parameters: { $params: '["a",1]', $top: '1' },
  },
  {
    notes: '1.2',
    name: 'quotes around a value protect & and =',
    raw: '$filter="a=1&b=2"&$top=1',
    parameters: { $filter: 'a=1&b=2', $top: '1' },
  },
  {
    notes: '1.2',
    name: 'quotes inside a value protect & and are kept',
    raw: `$filter=name='Smith & Sons'&$params=["a&b"]`,
    parameters: { $filter: "name='Smith & Sons'", $params: '["a&b"]' },
  },
  {
    notes: '1.2',
    name: 'encoded quotes are quotes',
    raw: '$filter=%22a%3D1&b=2%22&$params=%27[%22X%22]%27',
    parameters: { $filter: 'a=1&b=2', $params: '["X"]' },
  },
  {
    notes: '1.2',
    name: 'an encoded & never splits',
    raw: '$filter=a%26b&$top=1',
    parameters: { $filter: 'a&b', $top: '1' },
  },
  {
    notes: '1.2',
    name: 'an encoded & after a quote does not end the value',
    raw: '$filter="a"%26"b"&$top=1',
    parameters: { $filter: 'a"&"b', $top: '1' },
  },
  {
    notes: '1.2',
    name: 'a quoted word before the last character is not the end of a wrapped value',
    raw: '$filter="a" b&x=1&$top=1',
    parameters: { $filter: '"a" b', x: '1', $top: '1' },
  },
  {
    notes: '1.2',
    name: 'an apostrophe inside a word is not a quote',
    raw: "$filter=lastName=O'Reilly&$top=1&$params=['x']",
    parameters: { $filter: "lastName=O'Reilly", $top: '1', $params: "['x']" },
  },
  {
    notes: '1.2',
    name: 'an encoded apostrophe inside a word is not a quote',
    raw: '$filter=lastName%3DO%27Reilly&$top=1',
    parameters: { $filter: "lastName=O'Reilly", $top: '1' },
  },
  {
    notes: '1.2',
    name: 'an apostrophe inside the same kind of quotes does not end the value',
    raw: `$filter='name = O'Reilly & Sons'&$params='["it's"]'`,
    parameters: { $filter: "name = O'Reilly & Sons", $params: '["it\'s"]' },
  },
  {
    notes: '1.2',
    name: 'an unclosed quote inside a value is a plain character',
    raw: "$filter=name='t Hooft&$top=5",
    parameters: { $filter: "name='t Hooft", $top: '5' },
  },
  {
    notes: '1.2',
    name: 'a value that only starts with a quoted word is not wrapped',
    raw: `$orderby='name' desc&$filter='x=1'`,
    parameters: { $orderby: "'name' desc", $filter: 'x=1' },
  },
  {
    notes: '1.2',
    name: 'escaped quotes inside a quoted value are kept',
    raw: '$filter="name in [\\"a\\",\\"b\\"]"&$top=1',
    parameters: { $filter: 'name in [\\"a\\",\\"b\\"]', $top: '1' },
  },
  {
    notes: '1.2',
    name: '+ is a space in $params and a plus sign elsewhere',
    raw: '$filter=a+b&$params=["a+b%2B"]',
    parameters: { $filter: 'a+b', $params: '["a b+"]' },
  },
  {
    notes: '1.2',
    name: 'UTF-8 is read encoded and raw',
    raw: '$filter=name="%C3%A9%F0%9F%98%80 é😀"',
    parameters: { $filter: 'name="é😀 é😀"' },
  },
  {
    notes: '1.2',
    name: 'a parameter may be named __proto__',
    raw: '__proto__=1',
    parameters: { ['__proto__']: '1' },
  },
]

for (const { notes, name, raw, parameters } of cases) {
  t.test(`notes ${notes}: ${name}`, async t => {
    t.strictSame([...parseQueryString(raw)], Object.entries(parameters))
  })
}

const failures = [
  { raw: "$filter='a=1&$top=2", errCode: 1808, says: 'at character 9' },
  { raw: '$top=2&$filter="a=1', errCode: 1809, says: 'at character 16' },
  { raw: '$filter=%27a', errCode: 1808, says: 'at character 9' },
  { raw: '$filter=100%', errCode: 1806, says: '"100%"' },
  { raw: '$filter=%ff', errCode: 1806, says: '"%ff"' },
  { raw: '%c3%28=1', errCode: 1806, says: '"%c3%28"' },
]

for (const { raw, errCode, says } of failures) {
  t.test(`${raw} is refused with ${errCode}`, async t => {
    t.throws(() => parseQueryString(raw), { httpStatus: 400, entries: [{ errCode }], message: new RegExp(`.*${says}`) })
  })
}
