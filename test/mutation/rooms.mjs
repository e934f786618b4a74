import { readdirSync } from 'node:fs'

/** Rooms in which a mistake would be gravest: the files and folders that they consist of, and their tests, the nearest first. */
export const ROOMS = {
  parse: {
    sources: ['engine/query/parse'],
    tests: [
      'unit/engine/query',
      'unit/engine/author/data-api',
      'protocol/filter',
      'protocol/compute',
      'protocol/slow-requests',
      'property/filter',
      'property/lift-literals',
    ],
  },
  bind: {
    sources: ['engine/query/bind'],
    tests: [
      'unit/engine/query',
      'protocol/filter',
      'protocol/calculated',
      'protocol/vector.',
      'protocol/writing',
      'protocol/deletion-conditions',
      'property/filter',
    ],
  },
  plan: {
    sources: [
      'engine/query/plan',
      'engine/query/plan/nodes',
      'engine/query/estimate',
      'engine/query/tasks/answer-cost.ts',
      'engine/query/tasks/selection-cost.ts',
      'engine/query/tasks/text-cost.ts',
    ],
    tests: [
      'unit/engine/query',
      'unit/engine/author/data-api',
      'unit/engine/placement/where',
      'protocol/filter',
      'protocol/decimal',
      'protocol/restricted-plan',
      'protocol/vector.',
      'property/filter',
      'property/reference',
      'property/vector',
    ],
  },
  execute: {
    sources: [
      'engine/query/execute',
      'engine/query/operators',
      'engine/query/scan',
      'engine/query/aggregate',
      'engine/query/contract/rows.ts',
      'engine/query/operators/trace.ts',
      'engine/query/serialise/write-values.ts',
    ],
    tests: [
      'unit/engine/query',
      'unit/engine/query/aggregate',
      'protocol/filter',
      'protocol/compute',
      'protocol/reading',
      'protocol/restricted-plan',
      'protocol/vector',
      'property/filter',
      'property/vector',
      'property/sketch',
      'property/reference',
    ],
  },
  serialise: {
    sources: [
      'engine/query/serialise',
      'engine/answer/byte-writer.ts',
      'engine/write/answer/answer-saved.ts',
      'engine/write/answer/write-saved.ts',
    ],
    tests: [
      'unit/engine/query/serialise',
      'protocol/reading',
      'protocol/writing',
      'protocol/vector.',
      'property/projection',
    ],
  },
  write: {
    sources: [
      'engine/write',
      'engine/threads/writer-thread.ts',
      'engine/storage/lmdb-transaction.ts',
      'engine/storage/change-log-writer.ts',
      'engine/storage/index-writer.ts',
    ],
    tests: [
      'unit/engine/write',
      'protocol/writing',
      'protocol/lock',
      'protocol/uploads',
      'protocol/entity-set.',
      'durability/slow-disk',
      'property/writes',
    ],
  },
  hooks: {
    sources: [
      'engine/author/hooks',
      'engine/author/declare/check-declarations.ts',
      'engine/author/run/calculate-outdated.ts',
    ],
    tests: [
      'unit/engine/author/hooks',
      'protocol/calculated',
      'protocol/events',
      'protocol/restrict',
      'plugin/declarations',
      'property/calculated',
    ],
  },
  permission: {
    sources: ['engine/permission', 'engine/catalog/view.ts'],
    tests: [
      'unit/engine/permission',
      'unit/engine/query/serialise',
      'protocol/roles',
      'protocol/info',
      'property/permission-matrix',
    ],
  },
  'entity sets': {
    sources: ['engine/entity-set', 'plugins/entity-set'],
    tests: [
      'unit/engine/entity-set',
      'unit/engine/storage/inspect/check-entity-sets',
      'protocol/entity-set',
      'protocol/guests',
      'protocol/restricted-sets',
      'protocol/deletion-conditions',
      'protocol/calculated',
      'functions/entity-sets',
      'property/entity-set',
    ],
  },
  sessions: {
    sources: ['kernel/session', 'kernel/auth'],
    tests: [
      'unit/kernel/session',
      'unit/kernel/auth',
      'protocol/session',
      'protocol/guests',
      'protocol/foreign-pages',
      'protocol/roles',
    ],
  },
  transport: {
    sources: ['kernel/transport', 'kernel/url'],
    tests: [
      'unit/kernel/transport',
      'unit/kernel/url',
      'protocol/server',
      'protocol/addresses',
      'protocol/aborts',
      'protocol/proxies',
      'property/query-string',
      'edge/raw-socket',
    ],
  },
}

/** Source files of a room, without files that another room names, and without registries of errors, which hold only texts. */
export function sourcesOf(room) {
  const named = Object.keys(ROOMS).flatMap(other => (other === room ? [] : ROOMS[other].sources))
  return ROOMS[room].sources.flatMap(place => {
    if (place.endsWith('.ts')) return [place]
    const files = readdirSync(place, { recursive: true }).map(file => `${place}/${file}`)
    return files
      .filter(file => /(?<!\.d)\.ts$/.test(file) && !/[-/]errors\.ts$/.test(file) && !named.includes(file))
      .sort()
  })
}

/** Test files of a room below `test/`, in the order of its places. */
export function testsOf(room) {
  const files = readdirSync('test', { recursive: true })
    .filter(file => file.endsWith('.test.ts'))
    .sort()
  return [...new Set(ROOMS[room].tests.flatMap(place => files.filter(file => file.startsWith(place))))]
}
