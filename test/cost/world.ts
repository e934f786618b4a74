/** Cost of a request for the threads of a server: milliseconds of CPU, and bytes. */
export interface Cost {
  /** Total cost of the kernel thread. */
  readonly kernel: number
  /** The longest turn of its event loop. */
  readonly turn: number
  /** The longest time that the writer worked while a small save waited. */
  readonly writerWait: number
  /** Cost of all threads. */
  readonly all: number
  /** Memory of the process that is not backed by files. */
  readonly memory: number
}

export const shown = ({ kernel, turn, writerWait, all }: Cost): string =>
  `kernel ${kernel.toFixed(1)}, turn ${turn.toFixed(1)}, wait ${writerWait.toFixed(1)}, all ${all.toFixed(1)} ms`

export const ROWS = 20_000

export const MODEL = {
  name: 'cost',
  dataClasses: {
    City: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string', indexed: true, maxLength: 100 },
        notes: { type: 'string' },
        group: { type: 'long', indexed: true },
        population: { type: 'long' },
        info: { type: 'object' },
        embedding: { type: 'vector', dimension: 3, metric: 'cosine' },
        parentID: { type: 'long' },
        photo: { type: 'image' },
        parent: { kind: 'relatedEntity', type: 'City', foreignKey: 'parentID', inverseName: 'children' },
        children: { kind: 'relatedEntities', type: 'CitySelection', inverseName: 'parent' },
      },
    },
    Note: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        title: { type: 'string', indexed: true },
        rank: { type: 'long', indexed: true },
        beforeID: { type: 'long' },
        before: { kind: 'relatedEntity', type: 'Note', foreignKey: 'beforeID', inverseName: 'after' },
        after: { kind: 'relatedEntities', type: 'NoteSelection', inverseName: 'before' },
        shout: { kind: 'calculated', type: 'string' },
      },
    },
    Big: {
      key: 'ID',
      attributes: { ID: { type: 'long' }, notes: { type: 'string' }, info: { type: 'object' } },
    },
    Ping: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' }, at: { type: 'long' } } },
  },
}

/** Notes, of which every second one is hidden. */
export const NOTES: readonly object[] = Array.from({ length: 2_000 }, (_, i) => ({
  ...{ ID: i + 1, title: `note ${i}`, rank: i % 2 },
  beforeID: i === 0 ? null : i,
}))

/** Objects with 30,000 names, and as many bytes without names, with texts of the same length. */
export const BIG: readonly object[] = Array.from({ length: 24 }, (_, i) => ({
  ID: i + 1,
  notes: `${i} ${'of a long text '.repeat(20_000)}`,
  info: {
    z: i,
    ...(i % 2
      ? Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`k${n}`, n]))
      : { list: Array(150_000).fill(1) }),
  },
}))

export const rowsOf = (count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({
    ID: i + 1,
    name: `item ${i % 500}`,
    notes: `the notes of item ${i} `.repeat(5),
    group: i % 100,
    info: { tags: [`t${i % 7}`, `u${i % 11}`], size: i },
    embedding: [Math.cos(i), Math.sin(i), 1],
    parentID: i === 0 ? null : Math.ceil(i / 10),
  }))
