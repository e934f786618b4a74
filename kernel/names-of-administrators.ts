import type { Registered } from './description.ts'

/** Names of parameters that belong to operations for administrators only, which messages to others do not name. */
export function namesOfAdministrators({ declared, services, routes, patterns }: Registered): Set<string> {
  const hiddenIds = new Set([
    ...idsOf([...services.values()].filter(each => each.administrators)),
    ...idsOf([...routes.values(), ...patterns.values()].filter(each => each.shownToAdministrators)),
  ])
  const isHidden = ({ on = [] }: { readonly on?: readonly string[] }): boolean =>
    on.length > 0 && on.every(each => hiddenIds.has(each))
  const shown = new Set(declared.filter(each => !isHidden(each)).map(({ name }) => name))
  return new Set(declared.map(({ name }) => name).filter(name => !shown.has(name)))
}

const idsOf = (
  owners: readonly { readonly operations?: Readonly<Record<string, { readonly id: string }>> }[],
): string[] => owners.flatMap(({ operations = {} }) => Object.values(operations).map(({ id }) => id))
