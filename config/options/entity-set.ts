import { bytes, integer } from '../option.ts'

/** Options for entity sets. */
export const entitySetOptions = {
  'entitySet.lifetimeSeconds': integer({
    default: 7200,
    min: 1,
    doc: 'Time without use after which an entity set ends, unless the request sets `$timeout`.',
  }),
  'entitySet.recreatedLifetimeSeconds': integer({
    default: 600,
    min: 1,
    doc: 'The same for an entity set that was created again by its saved query.',
  }),
  'entitySet.maxLifetimeSeconds': integer({
    default: 2_592_000,
    min: 1,
    doc: 'Maximum `$timeout` of an entity set; a larger one is reduced to it.',
  }),
  'entitySet.savedLifetimeSeconds': integer({
    default: 2_592_000,
    min: 1,
    doc: 'Time for which a saved query is kept after its entity set ends.',
  }),
  'entitySet.memoryBytes': bytes({
    default: '256 MiB',
    min: 0,
    doc: 'Memory for entity sets. Beyond it, the least recently used sets are read from the store when they are used again.',
  }),
  'entitySet.guestBytesPerAddress': bytes({
    default: '128 MiB',
    min: 4096,
    doc: 'Disk space for entity sets and saved queries of the guests of one address (IPv6: one /64 network), counting 2 KiB for each in addition to its members and its query; beyond it the oldest sets end.',
  }),
  'entitySet.maxGuestBytes': bytes({
    default: '1 GiB',
    min: 4096,
    doc: 'Disk space for entity sets and saved queries of all guests; beyond it the oldest sets end.',
  }),
} as const
