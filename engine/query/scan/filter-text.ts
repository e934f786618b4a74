import type { TextPool } from '../../data/snapshot.ts'
import { effortOf, matcherOf } from '../bind/match-value.ts'
import type { Bound, ValueTest } from '../bind/predicate.ts'
import type { QueryBudget } from './query-budget.ts'

/** Test of texts by their pointers. */
export interface PointerTest {
  readonly passes: PointerMatcher
  /** Pointers that pass, or that fail if the test is negated. */
  readonly oneOf?: readonly number[]
  /** Bytes of the parts of texts that pass, or that fail if the test is negated: see `TextPool.patternTest`. */
  readonly pattern?: readonly Uint8Array[]
  readonly negated: boolean
  /** Budget to ask when texts are long. */
  readonly budget: QueryBudget
}

type PointerMatcher = (pointer: number) => boolean

export function pointerTestOf(test: ValueTest, negated: boolean, texts: TextPool, budget: QueryBudget): PointerTest {
  const oneOf = listOf(test, texts)
  const matches = pointerMatcher(test, texts, budget)
  return {
    passes: negated ? pointer => !matches(pointer) : matches,
    negated,
    budget,
    ...(oneOf && { oneOf }),
    ...(isBytewise(test) && { pattern: test.parts.map(part => texts.encode(part)) }),
  }
}

/** Pointers of the values of a test. 0, never a pointer, stands for a text that no row has. */
function listOf(test: ValueTest, texts: TextPool): number[] | undefined {
  if (test.kind === 'equal') return [texts.find(test.value as string)]
  if (test.kind === 'in') return [...test.values].map(value => texts.find(value as string))
  return undefined
}

/** Matcher that creates no strings where comparing pointers or bytes is enough. */
function pointerMatcher(test: ValueTest, texts: TextPool, budget: QueryBudget): PointerMatcher {
  switch (test.kind) {
    case 'any':
      return () => true
    case 'equal':
    case 'in': {
      const wantedPointers = new Set(listOf(test, texts))
      return pointer => wantedPointers.has(pointer)
    }
    case 'range': {
      const isAbove = boundTest(test.lower, texts, 1)
      const isBelow = boundTest(test.upper, texts, -1)
      return pointer => isAbove(pointer) && isBelow(pointer)
    }
    case 'pattern':
      return isBytewise(test) ? bytewise(test.parts, texts, budget) : readText(test, texts, budget)
    case 'anyOf': {
      const tests = test.tests.map(each => pointerMatcher(each, texts, budget))
      return pointer => tests.some(passes => passes(pointer))
    }
    case 'keyword':
      return readText(test, texts, budget)
  }
}

function bytewise(parts: readonly string[], texts: TextPool, budget: QueryBudget): PointerMatcher {
  const matches = texts.patternTest(parts)
  return pointer => {
    budget.look(texts.byteLength(pointer))
    return matches(pointer)
  }
}

function boundTest(bound: Bound | undefined, texts: TextPool, sign: 1 | -1): PointerMatcher {
  if (!bound) return () => true
  const compare = texts.comparerTo(bound.value as string)
  const least = bound.inclusive ? 0 : 1
  return pointer => Math.sign(compare(pointer)) * sign >= least
}

const isBytewise = (test: ValueTest): test is ValueTest & { kind: 'pattern' } =>
  test.kind === 'pattern' && !test.parts.some(hasEscapes)

/** True for characters whose bytes in a pool can occur inside those of another character. */
function hasEscapes(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) <= 2) return true
  return false
}

/** Number of cached outcomes, a power of 2. Usually many rows share a few texts, or each row has its own. */
const REMEMBERED = 4096

function readText(test: ValueTest, texts: TextPool, budget: QueryBudget): PointerMatcher {
  const matches = matcherOf(test)
  const effort = effortOf(test)
  // A pointer is a multiple of 8, so its lowest bit can hold the outcome of the test.
  const outcomes = new Uint32Array(REMEMBERED)
  return pointer => {
    const at = (pointer >>> 3) & (REMEMBERED - 1)
    if ((outcomes[at]! & ~1) >>> 0 !== pointer) {
      const text = texts.text(pointer)
      budget.look(text.length * effort)
      outcomes[at] = pointer + Number(matches(text))
    }
    return (outcomes[at]! & 1) !== 0
  }
}
