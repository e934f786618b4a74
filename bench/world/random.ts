/**
 * A number in [0, 1) that depends only on its arguments, so that any value of any row can be computed independently. The mixing steps are
 * the finalizer of MurmurHash3 (Appleby, public domain).
 * @param field distinguishes the values of one row
 */
export function random(seed: number, row: number, field: number): number {
  const low = mix(Math.imul(row + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca77))
  return mix(low + Math.imul(field + 1, 0xc2b2ae3d)) / 2 ** 32
}

function mix(value: number): number {
  let h = value >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
