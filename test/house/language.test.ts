/**
 * Comments, messages and documents in plain technical English: the patterns that CONTRIBUTING names are not used.
 */
import t from 'tap'
import { sources } from '../support/checks/sources.ts'

/** `in` limits a rule to comments, to documents, or to all text outside the tests, whose data may contain such words. */
const RULES: readonly { name: string; pattern: RegExp; in: 'comments' | 'documents' | 'product' }[] = [
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
  {
    name: 'a sentence of a document begins with its subject or a verb, unless it is a question',
    pattern: /(?<=^|[.!?] |^\s*[-*] |\| |^#+ )(?:What|Where|Who|Those|Of|Nothing or)\b(?![^.!|\n]*\?)/gm,
    in: 'documents',
  },
  {
    name: '"exists", "is in", "uses", "screenshot", "measurements" in place of is there, stands in, goes by, picture, figures',
    pattern:
      /\b(?:is|are|was|were) there\b(?!\?)|\bstands? (?:elsewhere|in a|in the|there)\b|\bgoe?s? by\b|\bpictures?\b|\bfigures?\b/gi,
    in: 'documents',
  },
]

/** The text that people read of a document: without code, quoted messages and addresses, which keep their length. */
const prose = (text: string): string =>
  text.replace(/^(?:```|~~~)[\s\S]*?^\s*(?:```|~~~)|`[^`\n]*`|\]\([^)\s]*\)|"[^"\n]*"/gm, part =>
    part.replace(/[^\n]/g, '_'),
  )

for (const { name, pattern, in: scope } of RULES) {
  t.test(name, async t => {
    const extensions = {
      comments: ['.ts', '.tsx', '.mjs'],
      documents: ['.md'],
      product: ['.ts', '.tsx', '.mjs', '.md'],
    }
    const files = sources(...extensions[scope])
      .filter(({ path }) => scope !== 'product' || !path.startsWith('test/'))
      .map(({ path, text }) => ({ path, text: scope === 'documents' ? prose(text) : text }))
    const found = files.flatMap(({ path, text }) =>
      [...text.matchAll(pattern)].map(({ index, 0: words }) => {
        const line = text.slice(0, index).split('\n').length
        return `${path}:${line}: ${words.trim()}`
      }),
    )
    t.same(found, [])
  })
}
