import { cachedParser } from '../../engine/query/parse/parse-cache.ts'
import { liftingParser } from '../../engine/query/parse/lift-literals.ts'
import { parseQuery } from '../../engine/query/parse/parse-query.ts'
import type { QuerySyntax } from '../../engine/query/parse/syntax-tree.ts'
import { differs, type EngineCase, engineCase } from './engine-case.ts'

const TEXTS = 500
const text = (n: number): string =>
  `lastName = "a${n}@" and (salary >= ${20_000 + n} or employer.name begin "B${n}") and not (woman = true)`

const parse = (name: string, title: string, parser: () => (text: string) => QuerySyntax, textOf: typeof text) =>
  engineCase({
    name,
    title,
    prepare: () => {
      const read = parser()
      return {
        units: 1,
        unit: 'texts',
        run: n => read(textOf(n)),
        problemOf: answer => differs('the root', (answer as QuerySyntax).condition?.kind, 'and'),
      }
    },
  })

export const parseCold: EngineCase = parse(
  'parse-cold',
  'parse of a new filter of four conditions',
  () => parseQuery,
  text,
)
export const parseLifted: EngineCase = parse(
  'parse-lifted',
  'the same with literals that are new, in a shape that is known',
  () => liftingParser(parseQuery, { entries: 1_000, sizeBytes: 2 ** 26 }),
  text,
)
export const parseCached: EngineCase = parse(
  'parse-cached',
  'the same from the cache',
  () => cachedParser(parseQuery, { entries: 1_000, sizeBytes: 2 ** 26 }),
  n => text(n % TEXTS),
)
