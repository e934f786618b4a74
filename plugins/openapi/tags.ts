import type { DataClass } from '../../engine/index.ts'
import type { Registered } from '../../kernel/api.ts'

/** Tags of addresses that belong to no dataclass. */
const SERVICES: Readonly<Record<string, string>> = {
  catalog: 'The data model, and clients of it.',
  session: 'Logins and the current user.',
  data: 'Files and entity sets.',
  server: 'State and administration of the server.',
}

/** Tags of the operations of a document, tags of dataclasses first. */
export function tagsOf(
  paths: object,
  dataClasses: readonly DataClass[],
  { services, routes, patterns }: Registered,
  isAdministrator: boolean,
): object[] {
  const ofPlugins = [
    ...[...services.values()].filter(each => isAdministrator || !each.administrators),
    ...[...routes.values(), ...patterns.values()].filter(each => isAdministrator || !each.shownToAdministrators),
  ]
  const descriptions = new Map([
    ...dataClasses.map(({ name, description }) => [name, description ?? `Entities of ${name}.`] as const),
    ...Object.entries(SERVICES).filter(([name]) => !dataClasses.some(each => each.name === name)),
  ])
  const usedNames = new Set<string>()
  for (const item of Object.values(paths) as Record<string, { tags?: string[] }>[]) {
    for (const { tags = [] } of Object.values(item)) for (const name of tags) usedNames.add(name)
  }
  const otherNames = [...usedNames].filter(name => !descriptions.has(name))
  return [
    ...[...descriptions].filter(([name]) => usedNames.has(name)).map(([name, description]) => ({ name, description })),
    ...otherNames.map(name => ({
      name,
      description: ofPlugins.find(({ tag, plugin }) => (tag ?? plugin) === name)?.doc ?? `Functions of ${name}.`,
    })),
  ]
}
