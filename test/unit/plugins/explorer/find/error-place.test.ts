import t from 'tap'
import { errorPlace } from '../../../../../plugins/explorer/page/find/error-place.ts'
import { parseQuery } from '../../../../../engine/query/parse/parse-query.ts'

const marked = (message: string, text: string): string => {
  const { start, end } = errorPlace(message, text)
  return `${text.slice(0, start)}‹${text.slice(start, end)}›${text.slice(end)}`
}

/** Text marked by the message of the parser. */
function markedByParser(text: string): string {
  try {
    parseQuery(text)
  } catch (error) {
    return marked((error as Error).message, text)
  }
  return text
}

t.test('places by character, counted in code points', async t => {
  t.equal(markedByParser('a = 3 andd'), 'a = 3 ‹andd›')
  t.equal(markedByParser('a = "🙂🙂" andd b'), 'a = "🙂🙂" ‹andd› b')
  t.equal(markedByParser('a = 3 and'), 'a = 3 ‹and›')
  t.equal(markedByParser('(a = 3'), '(a = ‹3›')
  t.equal(markedByParser('a =% b'), 'a ‹=%› b')
  t.equal(markedByParser('a = "x'), 'a = ‹"x›')
})

t.test('places by name', async t => {
  const unknown = (name: string, hint = '') => `attribute "${name}" not found in class "City"${hint}`
  t.equal(marked(unknown('nme'), 'xnme = 1 and nme = 2'), 'xnme = 1 and ‹nme› = 2')
  t.equal(marked(unknown('nme'), 'country.nme = 1'), 'country.‹nme› = 1')
  t.equal(marked(unknown('nme'), 'nme[].x = 1'), '‹nme›[].x = 1')
  t.equal(marked(unknown('the name'), '"the name" = 1'), '‹"the name"› = 1')
  t.equal(marked('cannot read "x y" as a number', 'a = "x y"'), 'a = ‹"x y"›')
  t.equal(marked('too slow', 'a = 1'), '‹a = 1›')
  t.equal(errorPlace(unknown('nme', '; did you mean "name"?'), 'nme = 1').proposal, 'name')
  t.equal(errorPlace(unknown('nme'), 'nme = 1').proposal, undefined)
})
