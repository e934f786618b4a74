type Components = Readonly<Record<string, Readonly<Record<string, object>>>>

/** Components to which the paths of a document refer, directly or by others; sections without any are left out. */
export function usedComponents(paths: object, components: Components): Record<string, Record<string, object>> {
  const references = new Set<string>()
  const visit = (part: object): void => {
    for (const [, ref] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)) {
      if (references.has(ref!)) continue
      references.add(ref!)
      const [section, name] = ref!.split('/') as [string, string]
      const parts = components[section] ?? {}
      // An example may look like a reference.
      if (Object.hasOwn(parts, name)) visit(parts[name]!)
    }
  }
  visit(paths)
  const sections = Object.entries(components).map(([section, parts]) => {
    const keptParts = Object.entries(parts).filter(([name]) => references.has(`${section}/${name}`))
    return [section, Object.fromEntries(keptParts)] as const
  })
  return Object.fromEntries(sections.filter(([, parts]) => Object.keys(parts).length > 0))
}
