/** True if arrays and objects are nested more than `levels` deep. The recursion stops at that depth. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof inner === 'object' && isDeeper(inner, levels - 1)) return true
  }
  return false
}
