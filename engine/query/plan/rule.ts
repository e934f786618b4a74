import type { Predicate } from '../bind/predicate.ts'

/** A rewrite of a predicate or a plan that keeps its result. Pure. */
export interface Rule<Node> {
  readonly name: string
  apply(node: Node): Node
}

/** The predicate with `change` done to its direct inputs. */
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
    case 'isNull':
    case 'similarity':
    case 'json':
      return predicate
  }
}
