/**
 * Rights, worked out from the text of the protocol notes, 8.4, and from the decisions where it is silent.
 * Shares no code with the engine.
 */

export type Action = 'create' | 'read' | 'update' | 'drop' | 'execute' | 'promote'

export interface RolesFile {
  privileges: { privilege: string; includes?: string[] }[]
  roles: { role: string; privileges: string[] }[]
  permissions: { allowed: ({ applyTo: string; type: string } & { [A in Action]?: string[] })[] }
  restrictedByDefault?: boolean
}

export interface Principal {
  name: string
  privileges: string[]
  roles: string[]
}

/** Description of an attribute. */
export interface AttributeFacts {
  /** Dataclass that a relation, or a relation at the end of an alias, leads to. */
  target?: string
  /** `Class.attribute` of the foreign key of a relation. */
  foreignKey?: string
}

export class Evaluator {
  private readonly held: string[]

  constructor(
    private readonly file: RolesFile,
    { privileges, roles }: Principal,
    private readonly facts: Readonly<Record<string, AttributeFacts>>,
  ) {
    const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
    // No generated file declares it.
    const found = ['guest', ...privileges]
    for (const each of file.roles) if (roles.some(role => same(role, each.role))) found.push(...each.privileges)
    for (let size = -1; size !== found.length; ) {
      size = found.length
      for (const { privilege, includes = [] } of file.privileges) {
        if (!found.some(name => same(name, privilege))) continue
        for (const name of includes) if (!found.some(other => same(other, name))) found.push(name)
      }
    }
    this.held = found.map(name => name.toLowerCase())
  }

  /** A setting of the dataclass replaces that of the datastore. */
  dataClass(action: Action, dataClass: string): boolean {
    return this.nearest(action, [`dataclass ${dataClass}`, 'datastore ds'])
  }

  /** A setting of the attribute applies in addition to that of its dataclass. */
  attribute(action: Action, dataClass: string, attribute: string): boolean {
    const own = this.setting(action, `attribute ${dataClass}.${attribute}`)
    return this.dataClass(action, dataClass) && (own === undefined || this.holdsOneOf(own))
  }

  /** True if an attribute exists for a client: a relation shows its foreign key, and needs a target that exists. */
  shows(dataClass: string, attribute: string): boolean {
    const { target, foreignKey } = this.facts[`${dataClass}.${attribute}`] ?? {}
    if (!this.attribute('read', dataClass, attribute)) return false
    if (target && !this.dataClass('read', target)) return false
    if (!foreignKey) return true
    const [owner, name] = foreignKey.split('.') as [string, string]
    const own = this.setting('read', `attribute ${owner}.${name}`)
    return own === undefined || this.holdsOneOf(own)
  }

  /** A foreign key and its relations are one value: changing it requires the right to all of them, and to read the target. */
  gives(action: 'create' | 'update', dataClass: string, attribute: string): boolean {
    const relations = Object.entries(this.facts).filter(
      ([name, { foreignKey }]) => name.startsWith(`${dataClass}.`) && foreignKey === `${dataClass}.${attribute}`,
    )
    const isAllowed = (name: string): boolean => this.attribute(action, dataClass, name)
    return (
      isAllowed(attribute) &&
      relations.every(([name, { target }]) => isAllowed(name.split('.')[1]!) && this.dataClass('read', target!))
    )
  }

  /** Rules for one function replace those for all. */
  executes(kind: 'method' | 'singletonMethod', owner: string, name: string): boolean {
    const own = `${kind} ${owner}.${name}`
    if (kind === 'singletonMethod') return this.nearest('execute', [own, `singleton ${owner}`, 'datastore ds'])
    return this.nearest('execute', [own, ...(owner === 'ds' ? [] : [`dataclass ${owner}`]), 'datastore ds'])
  }

  private nearest(action: Action, resources: readonly string[]): boolean {
    for (const resource of resources) {
      const named = this.setting(action, resource)
      if (named !== undefined) return this.holdsOneOf(named)
    }
    return this.file.restrictedByDefault !== true
  }

  private setting(action: Action, resource: string): string[] | undefined {
    return this.file.permissions.allowed.find(({ type, applyTo }) => `${type} ${applyTo}` === resource)?.[action]
  }

  private holdsOneOf(names: readonly string[]): boolean {
    return names.some(name => this.held.includes(name.toLowerCase()))
  }
}
