/** The first entries in which two contents differ. */
export function differences(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] {
  const keys = new Set([...a.keys(), ...b.keys()])
  return [...keys]
    .filter(key => a.get(key) !== b.get(key))
    .slice(0, 3)
    .map(key => `${key}: ${a.get(key)} | ${b.get(key)}`)
}
