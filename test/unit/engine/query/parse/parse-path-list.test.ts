import t from 'tap'
import { type PathListItem, parsePathList } from '../../../../../engine/query/parse/parse-path-list.ts'

const item = (path: string, range?: PathListItem['range']): PathListItem => ({ path: path.split('.'), range })

const cases: { notes: string; name: string; text: string; is: PathListItem[] }[] = [
  { notes: '1.10', name: 'a list of attributes', text: 'a,b.c', is: [item('a'), item('b.c')] },
  { notes: '1.10', name: 'blanks are tolerated', text: ' a , b . c ', is: [item('a'), item('b.c')] },
  { notes: '1.10', name: 'text after a colon is cut off', text: 'photo:best, a', is: [item('photo'), item('a')] },
  { notes: '4.1', name: 'a count', text: 'staff:10', is: [item('staff', { count: 10, skip: 0 })] },
  { notes: '4.1', name: 'a count and a skip', text: 'staff:10-20', is: [item('staff', { count: 10, skip: 20 })] },
  ...['staff:1-2-3', 'staff:-1', 'staff:1-x', 'staff:x-1', 'staff:1234567890', 'staff:'].map(text => ({
    notes: '4.1',
    name: `text that is not a count and skip is cut off: ${text}`,
    text,
    is: [item('staff')],
  })),
  { notes: '4.1', name: 'a name of digits is not a count', text: '10', is: [item('10')] },
  { notes: '4.1', name: 'every relation', text: '$all', is: [item('$all')] },
  { notes: '4.2', name: 'every attribute', text: '*,employer.*', is: [item('*'), item('employer.*')] },
  { notes: '4.2', name: 'any script', text: 'имя.größe', is: [item('имя.größe')] },
  { notes: '4.2', name: 'nothing', text: '  ', is: [] },
]

for (const { notes, name, text, is } of cases) {
  t.test(`notes ${notes}: ${name}`, async t => {
    t.strictSame(parsePathList(text), is)
  })
}

const failures = [
  { text: 'a,,b', says: /character 3/ },
  { text: 'a,', says: /character 3, where it ends/ },
  { text: 'a..b', says: /character 1/ },
  { text: '.a', says: /expected an attribute/ },
  { text: ':10', says: /expected an attribute/ },
  { text: '*.a', says: /only at the end/ },
  { text: 'a,info.tags[]', says: /character 3.*elements of collections can be asked for in filters/ },
  { text: 'a.'.repeat(20_000), says: /more than 100 steps/ },
]

for (const { text, says } of failures) {
  t.test(`the list "${text.slice(0, 20)}" is refused`, async t => {
    t.throws(() => parsePathList(text), { httpStatus: 400, entries: [{ errCode: 1201 }], message: says })
  })
}
