import t from 'tap'
import { parsePath, type ResourcePath, type Selector, stripRestPrefix } from '../../../../kernel/url/parse-path.ts'

const ofClass = (dataClass: string, selector: Selector, ...parts: string[]): ResourcePath => ({
  kind: 'dataClass',
  dataClass,
  selector,
  parts,
})
const all: Selector = { kind: 'all' }
const keys = (...texts: string[]): Selector => ({ kind: 'keys', keys: texts })
const attribute = (name: string, value: string): Selector => ({ kind: 'attribute', attribute: name, value })

const cases: { notes: string; name: string; path: string; is: ResourcePath }[] = [
  { notes: '1.1', name: 'a name is a dataclass', path: '/Person', is: ofClass('Person', all) },
  { notes: '1.1', name: 'empty segments vanish', path: '//Person//name//', is: ofClass('Person', all, 'name') },
  { notes: '1.1', name: 'names may be of any script', path: '/Persön/имя', is: ofClass('Persön', all, 'имя') },
  { notes: '1.1', name: 'names are decoded', path: '/Pers%C3%B6n/a%2Fb', is: ofClass('Persön', all, 'a/b') },
  {
    notes: '1.1',
    name: '$ begins a service',
    path: '/$catalog/$all',
    is: { kind: 'service', name: '$catalog', parts: ['$all'] },
  },
  {
    notes: '1.1',
    name: 'an encoded $ begins a service',
    path: '/%24info',
    is: { kind: 'service', name: '$info', parts: [] },
  },
  { notes: '1.4', name: 'a key in parentheses', path: '/Person(1)', is: ofClass('Person', keys('1')) },
  { notes: '1.4', name: 'a key in brackets', path: '/Person[1]', is: ofClass('Person', keys('1')) },
  {
    notes: '1.4',
    name: 'encoded brackets are brackets',
    path: '/Person%5B1%2C2%5D',
    is: ofClass('Person', keys('1', '2')),
  },
  { notes: '1.4', name: 'several keys', path: '/Person(1,2,3)', is: ofClass('Person', keys('1', '2', '3')) },
  {
    notes: '1.4',
    name: 'no key is the whole dataclass, marked as blank',
    path: '/Person()/name',
    is: ofClass('Person', { kind: 'all', blank: true }, 'name'),
  },
  { notes: '1.4', name: 'double quotes are removed', path: '/City("Paris")', is: ofClass('City', keys('Paris')) },
  { notes: '1.4', name: 'single quotes are removed', path: "/City('Paris')", is: ofClass('City', keys('Paris')) },
  {
    notes: '1.4',
    name: 'encoded quotes are removed',
    path: '/City(%22Paris%22)',
    is: ofClass('City', keys('Paris')),
  },
  { notes: '1.4', name: 'quotes protect', path: '/City(")],/?",2)/a', is: ofClass('City', keys(')],/?', '2'), 'a') },
  { notes: '1.4', name: 'an empty quoted key is one key', path: '/City("")', is: ofClass('City', keys('')) },
  {
    notes: '1.4',
    name: 'a quote inside a key is part of it',
    path: "/City(O'Reilly)",
    is: ofClass('City', keys("O'Reilly")),
  },
  {
    notes: '1.4',
    name: 'a quote inside quotes is part of it',
    path: `/City("it"s")`,
    is: ofClass('City', keys('it"s')),
  },
  {
    notes: '1.4',
    name: 'an encoded bracket does not close a raw one',
    path: '/City(a%29b)',
    is: ofClass('City', keys('a)b')),
  },
  { notes: '1.4', name: 'an encoded comma does not split', path: '/City(a%2Cb)', is: ofClass('City', keys('a,b')) },
  { notes: '1.4', name: 'keys are decoded', path: '/City(S%C3%A3o%20Paulo)', is: ofClass('City', keys('São Paulo')) },
  {
    notes: '1.5',
    name: 'a value of an attribute',
    path: '/City:zip(75001)',
    is: ofClass('City', attribute('zip', '75001')),
  },
  {
    notes: '1.5',
    name: 'the same in brackets',
    path: '/City:zip[75001]/name',
    is: ofClass('City', attribute('zip', '75001'), 'name'),
  },
  {
    notes: '1.5',
    name: 'an attribute has one value',
    path: '/City:name(a,b)',
    is: ofClass('City', attribute('name', 'a,b')),
  },
  { notes: '1.5', name: 'a quoted value', path: '/City:code("A/1")', is: ofClass('City', attribute('code', 'A/1')) },
  {
    notes: '1.5',
    name: 'an empty value is quoted',
    path: '/City:code("")',
    is: ofClass('City', attribute('code', '')),
  },
  {
    notes: '1.4',
    name: 'blanks around a bare key are part of it',
    path: '/P(%20a,b%20%20,%09c%c2%a0)',
    is: ofClass('P', keys(' a', 'b  ', '\tc\u00a0')),
  },
  {
    notes: '1.4',
    name: 'blanks in quotes are part of the key',
    path: '/P("%20a%20","b%20")',
    is: ofClass('P', keys(' a ', 'b ')),
  },
  { notes: '1.4', name: 'an empty key is quoted', path: '/P("")', is: ofClass('P', keys('')) },
  { notes: '1.4', name: 'a blank is a key', path: '/P(%20)', is: ofClass('P', keys(' ')) },
  { notes: '1.4', name: 'a quote after a blank is part of it', path: '/P(%20"a")', is: ofClass('P', keys(' "a"')) },
  {
    notes: '1.4',
    name: 'a quote closes in the form in which it was opened',
    path: `/P("a%22,b",%22c",d%22,'e%27,f')`,
    is: ofClass('P', keys('a",b', 'c",d', "e',f")),
  },
  {
    notes: '1.5',
    name: 'blanks are part of a value',
    path: '/City:code(%20c1%20)',
    is: ofClass('City', attribute('code', ' c1 ')),
  },
  {
    notes: '1.8',
    name: '32 parts are read',
    path: `/P${'/a'.repeat(32)}//`,
    is: ofClass('P', all, ...Array<string>(32).fill('a')),
  },
  { notes: '1.8', name: 'an attribute list is one part', path: '/P(1)/a, b.c/', is: ofClass('P', keys('1'), 'a, b.c') },
  {
    notes: '1.8',
    name: 'a set and its ID are parts',
    path: '/P/$entityset/AB/f',
    is: ofClass('P', all, '$entityset', 'AB', 'f'),
  },
  {
    notes: '1.8',
    name: 'single quotes protect / in a part',
    path: "/P/f('a/b')/c",
    is: ofClass('P', all, "f('a/b')", 'c'),
  },
  { notes: '1.8', name: 'quotes protect / in a part', path: '/P/f("a/b")/c', is: ofClass('P', all, 'f("a/b")', 'c') },
]

for (const { notes, name, path, is } of cases) {
  t.test(`notes ${notes}: ${name}: ${path}`, async t => {
    t.strictSame(parsePath(path), is)
  })
}

const failures = [
  { path: '', errCode: 1806, says: 'is followed by a dataclass or a service' },
  { path: '/', errCode: 1806, says: 'is followed by a dataclass or a service' },
  { path: '/(1)', errCode: 1806, says: 'character 2: expected the name of a dataclass' },
  { path: '/Person(1', errCode: 1806, says: 'character 10: expected a closing "\\)"' },
  { path: '/Person[1)', errCode: 1806, says: 'expected a closing "\\]"' },
  { path: '/Person(1)x', errCode: 1806, says: 'character 11: expected "/"' },
  { path: '/Person(1,)', errCode: 1806, says: 'expected a key' },
  { path: '/Person(,1)', errCode: 1806, says: 'expected a key' },
  { path: '/Person:(1)', errCode: 1806, says: 'expected the name of an attribute' },
  { path: '/Person:name', errCode: 1806, says: 'expected a value in brackets' },
  { path: '/Person:name()', errCode: 1806, says: 'expected a value' },
  { path: '/Person(%ff)', errCode: 1806, says: '"%ff"' },
  { path: '/Person&$top=1', errCode: 1807, says: 'character 8' },
  { path: '/Person/name&$top=1', errCode: 1807, says: 'character 13' },
  { path: "/Person('a)", errCode: 1808, says: 'character 9' },
  { path: '/Person("a)', errCode: 1809, says: 'character 9' },
  { path: '/Person("a%22)', errCode: 1809, says: 'character 9' },
  { path: '/Person("a"%20)', errCode: 1809, says: 'character 9' },
  { path: `/P${'/a'.repeat(33)}`, errCode: 1806, says: 'more than 32 parts' },
  { path: `/$catalog${'/a'.repeat(33)}`, errCode: 1806, says: 'more than 32 parts' },
  { path: '/Person/f("a', errCode: 1809, says: 'character 11' },
]

for (const { path, errCode, says } of failures) {
  t.test(`the path "${path}" is refused with ${errCode}`, async t => {
    t.throws(() => parsePath(path), { httpStatus: 400, entries: [{ errCode }], message: new RegExp(`.*${says}`) })
  })
}

t.test('only a whole first segment /rest is the prefix', async t => {
  t.equal(stripRestPrefix('/rest'), '')
  t.equal(stripRestPrefix('/rest/'), '/')
  t.equal(stripRestPrefix('//rest/Person'), '/Person')
  t.equal(stripRestPrefix('/restaurant'), undefined)
  t.equal(stripRestPrefix('/REST/Person'), undefined)
  t.equal(stripRestPrefix('/x/rest'), undefined)
})
