import { PAGE, PAGE_HEADER_BYTES } from './data-file.ts'

const NODE_HEADER_BYTES = 8
/** Flags of an entry. */
export const NODE = { BIG: 0x01, TREE: 0x02 } as const
/** Size of `MDB_ovpage`, the place of a value that does not fit on its page. */
const BIG_BYTES = 24

/** `MDB_node`: an entry of a page. */
export interface PageNode {
  readonly index: number
  readonly flags: number
  readonly keyAt: number
  readonly keyBytes: number
  readonly dataAt: number
  /** Bytes of the value, on a leaf. */
  readonly size: number
  /** Page number, on a branch. */
  readonly child: number
}

/** First problem of a page, in all fields that a search reads. */
export function problemOfPage(
  page: Buffer,
  number: number,
  { isLeaf, hasNumbers }: { isLeaf: boolean; hasNumbers: boolean },
): string | undefined {
  const storedNumber = page.readBigUInt64LE(0)
  if (storedNumber !== BigInt(number)) return `is damaged: it says that it is page ${storedNumber}`
  const kind = page.readUInt16LE(18) & (PAGE.BRANCH | PAGE.LEAF | PAGE.OVERFLOW | PAGE.META)
  if (kind !== (isLeaf ? PAGE.LEAF : PAGE.BRANCH)) return 'is damaged: it is of another kind'
  const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)]
  const room = page.length - PAGE_HEADER_BYTES
  if (lower > upper || upper > room || lower % 2 !== 0) return 'is damaged: its bounds make no sense'
  if (lower === 0) return 'is damaged: it is empty'
  for (let i = 0; i < lower / 2; i++) {
    const at = page.readUInt16LE(PAGE_HEADER_BYTES + 2 * i)
    if (at < upper || at + NODE_HEADER_BYTES > room) return `is damaged: its entry ${i} is outside of it`
    const { flags, keyBytes, dataAt, size } = nodeAt(page, i)
    if (isLeaf && flags & ~(NODE.BIG | NODE.TREE)) return `is damaged: its entry ${i} is of an unknown kind`
    const dataBytes = isLeaf ? (flags & NODE.BIG ? BIG_BYTES : size) : 0
    if (dataAt + dataBytes > page.length) return `is damaged: its entry ${i} goes beyond it`
    if (hasNumbers && keyBytes !== 8 && (isLeaf || i > 0)) return `is damaged: its entry ${i} has no number`
  }
  return undefined
}

/** The entries of a page that has no problem. */
export function* nodesOf(page: Buffer): Generator<PageNode> {
  const count = page.readUInt16LE(20) / 2
  for (let i = 0; i < count; i++) yield nodeAt(page, i)
}

function nodeAt(page: Buffer, index: number): PageNode {
  const at = page.readUInt16LE(PAGE_HEADER_BYTES + 2 * index) + PAGE_HEADER_BYTES
  const flags = page.readUInt16LE(at + 4)
  const keyBytes = page.readUInt16LE(at + 6)
  const low = page.readUInt32LE(at)
  const keyAt = at + NODE_HEADER_BYTES
  return { index, flags, keyAt, keyBytes, dataAt: keyAt + keyBytes, size: low, child: low + flags * 2 ** 32 }
}

/** Compares two keys of a page. @param isNumber false for bytes */
export function compareKeys(page: Buffer, left: PageNode, right: PageNode, isNumber: boolean): number {
  if (isNumber) {
    const difference = page.readBigUInt64LE(left.keyAt) - page.readBigUInt64LE(right.keyAt)
    return difference < 0n ? -1 : difference > 0n ? 1 : 0
  }
  return page.compare(page, right.keyAt, right.keyAt + right.keyBytes, left.keyAt, left.keyAt + left.keyBytes)
}
