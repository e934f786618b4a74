declare const ADDRESS: unique symbol

/**
 * Byte offset of a block, a page, a node or a text in the shared memory, a multiple of 4. Row ids, lengths and indexes of words
 * are plain numbers, which the compiler refuses in place of an address. Addresses come from the allocator, from the header of the
 * memory, and from words that hold one.
 *
 * Columns, which hold numbers and addresses alike, and code outside `engine/memory` use plain numbers. These become addresses
 * again where the kind of a column says so, in `SharedTexts`, which takes the pointers of a `TextPool`, and in `readImage`, which
 * reads the state of an image.
 *
 * Functions that loops call for each value, in the files of the layouts, do the arithmetic themselves: V8 inlines nested calls
 * too, but checks each time that the callee is still the same.
 */
export type Address = number & { readonly [ADDRESS]: true }

export const NO_ADDRESS = 0 as Address

/** The address `bytes` after another one. */
export const offsetBy = (address: Address, bytes: number): Address => (address + bytes) as Address

/** Index of the nth word from an address on, in the words of the memory. */
export const wordIndex = (address: Address, n: number): number => (address >>> 2) + n

/** Address of the word with this index. */
export const addressOf = (index: number): Address => (index * 4) as Address

/** The nth word from an address on. */
export const wordAt = (words: Uint32Array, address: Address, n: number): number => words[(address >>> 2) + n]!

/** The address that the nth word from an address on holds. */
export const addressAt = (words: Uint32Array, address: Address, n: number): Address =>
  words[(address >>> 2) + n]! as Address
