/** A relation to one, between dataclasses. */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly foreignKey: string
  readonly isMandatory: boolean
}

/** Order of dataclasses in which related ones come first, and the relations for which that is impossible. */
interface LoadOrder {
  readonly order: readonly string[]
  /** Relations in a cycle: their foreign keys are saved after all entities. */
  readonly deferred: readonly Edge[]
}

export function orderOf(names: readonly string[], edges: readonly Edge[]): LoadOrder {
  const remainingNames = new Set(names)
  const order: string[] = []
  const deferredEdges: Edge[] = []
  const blockers = (name: string): Edge[] => edges.filter(({ from, to }) => from === name && remainingNames.has(to))
  const cost = (name: string): number =>
    blockers(name).reduce((sum, { isMandatory }) => sum + (isMandatory ? names.length * edges.length : 1), 0)
  while (remainingNames.size > 0) {
    let best: string | undefined
    let bestCost = Number.POSITIVE_INFINITY
    for (const name of remainingNames) {
      const nameCost = cost(name)
      if (nameCost >= bestCost) continue
      best = name
      bestCost = nameCost
      if (nameCost === 0) break
    }
    deferredEdges.push(...blockers(best!))
    remainingNames.delete(best!)
    order.push(best!)
  }
  return { order, deferred: deferredEdges }
}
