/**
 * Comments, messages and documents in plain technical English: the patterns that CONTRIBUTING names are not used.
 */
import t from 'tap'
import { sources } from '../support/checks/sources.ts'

/** `in` limits a rule to comments, or to text outside the tests, whose data may contain such words. */
const RULES: readonly { name: string; pattern: RegExp; in: 'comments' | 'product' }[] = [
  {
    name: 'a comment begins with a noun phrase or a verb',
    pattern: /^\s*(?:\/\*\*|\/\/)\s+(?:What|Of|Those|Where|Who)\b|\/\*\*\n\s*\*\s+(?:What|Of|Those|Where|Who)\b/gm,
    in: 'comments',
  },
  {
    name: '"no caller", "another session", "any client" in place of nobody, somebody, whoever',
    pattern: /\b(?:nobody|somebody|whoever)\b/gi,
    in: 'product',
  },
  {
    name: '"receives", "is called with", "no longer" in place of is told, gets to know, any more',
    pattern: /\b(?:is told|are told|gets to know|any more)\b/gi,
    in: 'product',
  },
  {
    name: '"again", "this many", "is not a" in place of anew, so many, is no',
    pattern: /\banew\b|\bso many\b|(?<!\bthere )\b(?:is|are) no (?!longer\b|faster\b|such\b)\w+/gi,
    in: 'product',
  },
  {
    name: '"plugin code" and "the caller", as the glossary has them',
    pattern: /\b(?:user code|code of (?:authors|plugins)|who asks)\b/gi,
    in: 'product',
  },
]

for (const { name, pattern, in: scope } of RULES) {
  t.test(name, async t => {
    const files = sources('.ts', '.tsx', '.mjs', ...(scope === 'product' ? ['.md'] : [])).filter(
      ({ path }) => scope === 'comments' || !path.startsWith('test/'),
    )
    const found = files.flatMap(({ path, text }) =>
      [...text.matchAll(pattern)].map(({ index, 0: words }) => {
        const line = text.slice(0, index).split('\n').length
        return `${path}:${line}: ${words.trim()}`
      }),
    )
    t.same(found, [])
  })
}
