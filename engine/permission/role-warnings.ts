import type { Subjects } from './check-roles.ts'
import { GUEST, nameKey, ofDataClass, ofFunction, type Resource, Roles } from './roles.ts'
import type { Action, RolesDocument } from './roles-schema.ts'

const VERBS = [
  ['read', 'read'],
  ['create', 'create'],
  ['update', 'change'],
  ['drop', 'delete'],
] as const
/** Maximum number of names in a sentence. */
const MAX_NAMES = 10

/**
 * Warnings about a checked `roles.json`: what guests may do only because no permission names it, so that a class that is added later is
 * open to them too, and a declaration of the privilege that every caller would have without it.
 */
export function roleWarnings(document: RolesDocument, subjects: Subjects): string[] {
  const roles = new Roles(document)
  // With a login required, guests may do nothing but read the catalog.
  const uses = roles.forceLogin ? [] : [...openClasses(roles, subjects), ...openFunctions(roles, subjects)]
  return [...declaredGuest(document), ...(uses.length > 0 ? [openWarning(uses)] : [])]
}

function declaredGuest({ privileges = [] }: RolesDocument): string[] {
  const i = privileges.findIndex(({ privilege }) => nameKey(privilege) === GUEST)
  if (i < 0) return []
  return [
    `privileges.${i}: "${GUEST}" is declared, so only users and keys to which it is given have it; without this declaration every caller has it`,
  ]
}

const openWarning = (uses: readonly string[]): string =>
  `guests may ${uses.join('; ')}, because no permission names these actions, and so with every class that is added; ` +
  `set "restrictedByDefault": true, and put the privilege "${GUEST}" into the lists of what guests may do`

/** Actions with the classes on which guests may perform them by default, such as `read City, Country`. */
function openClasses(roles: Roles, { catalog }: Subjects): string[] {
  const namesOfActions = new Map<string, string[]>()
  for (const { name, scope } of catalog.dataClasses) {
    if (scope !== 'public') continue
    const verbs = VERBS.filter(([action]) => isOpen(roles, action, ofDataClass(name))).map(([, verb]) => verb)
    const key = verbs.join(', ')
    if (key) namesOfActions.set(key, [...(namesOfActions.get(key) ?? []), name])
  }
  return [...namesOfActions].map(([actions, names]) => `${actions} ${shortList(names)}`)
}

function openFunctions(roles: Roles, { classes }: Subjects): string[] {
  const names = classes.flatMap(({ kind, name, dataClass, members }) =>
    members.flatMap(member => {
      if (member.kind !== 'function' || !member.exposed) return []
      const resources = ofFunction(kind, kind === 'singleton' ? name : dataClass, member.name)
      return isOpen(roles, 'execute', resources) ? [resources[0]!.name] : []
    }),
  )
  return names.length > 0 ? [`call ${shortList([...new Set(names)])}`] : []
}

function isOpen(roles: Roles, action: Action, resources: readonly Resource[]): boolean {
  const { allowed, setting } = roles.verdict(action, resources, new Set())
  return allowed && setting === undefined
}

const shortList = (names: readonly string[]): string =>
  names.length > MAX_NAMES
    ? `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`
    : names.join(', ')
