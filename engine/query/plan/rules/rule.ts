import type { Predicate } from '../../bind/predicate.ts'

/** A pure rewrite of a predicate or a plan that preserves its result. */
export interface Rule<Node> {
  readonly name: string
  apply(node: Node): Node
}

/** Applies `change` to the direct inputs of a predicate. */
export function mapInputs(predicate: Predicate, change: (input: Predicate) => Predicate): Predicate {
  switch (predicate.kind) {
    case 'and':
    case 'or':
      return { ...predicate, inputs: predicate.inputs.map(change) }
    case 'via':
    case 'some':
    case 'not':
    case 'complement':
      return { ...predicate, input: change(predicate.input) }
    case 'except':
      return { ...predicate, left: change(predicate.left), right: change(predicate.right) }
    case 'always':
    case 'never':
    case 'test':
    case 'identity':
    case 'isNull':
    case 'similarity':
    case 'json':
      return predicate
  }
}
