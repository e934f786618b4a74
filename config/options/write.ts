import { bytes, integer } from '../option.ts'

/** Options for saves and uploads. */
export const writeOptions = {
  'upload.maxBytes': bytes({ default: '256 MiB', min: 1, doc: 'Maximum size of an uploaded file.' }),
  'upload.maxReceiveMs': integer({
    default: 3_600_000,
    min: 1000,
    doc: 'Time within which an upload must arrive; each piece of it must arrive within `server.requestTimeoutMs`.',
  }),
  'upload.lifetimeSeconds': integer({
    default: 120,
    min: 1,
    doc: 'Time after which an upload that no entity refers to expires, unless the request sets `$timeout`.',
  }),
  'upload.maxLifetimeSeconds': integer({
    default: 86_400,
    min: 1,
    doc: 'Maximum `$timeout` of an upload; a larger one is reduced to it.',
  }),
  'upload.maxConcurrent': integer({
    default: 2_000,
    min: 1,
    doc: 'Maximum number of simultaneous uploads; beyond it the server answers 503.',
  }),
  'upload.maxPendingBytes': bytes({
    default: '4 GiB',
    min: 1,
    doc: 'Disk space for uploads that have not expired, counting 4 KiB for each in addition to its bytes; beyond it the server answers 503.',
  }),
  'upload.guestBytesPerAddress': bytes({
    default: '512 MiB',
    min: 8192,
    doc: 'The same for the guests of one address (IPv6: one /64 network); beyond it the server answers them with 429.',
  }),
  'upload.maxGuestBytes': bytes({
    default: '2 GiB',
    min: 8192,
    doc: 'The same for all guests; beyond it the server answers them with 503.',
  }),

  'write.queueBytes': bytes({
    default: '256 MiB',
    min: 1024,
    doc: 'Maximum total size of the bodies that wait to be written; beyond it the server answers 503.',
  }),
  'write.maxEntities': integer({
    default: 100_000,
    min: 1,
    doc: 'Maximum number of entities in the body of a save; beyond it the server answers 413, as it does for the next five options.',
  }),
  'write.maxEntityBytes': bytes({
    default: '4 MiB',
    min: 1024,
    doc: 'Maximum size of the JSON of one entity in the body of a save.',
  }),
  'write.maxAttributes': integer({ default: 1000, min: 1, doc: 'Maximum number of names in one entity of the body.' }),
  'write.maxNames': integer({
    default: 10_000,
    min: 1,
    doc: 'Maximum number of names in one entity of the body, including names within its objects.',
  }),
  'write.maxTransactionEntities': integer({
    default: 10_000,
    min: 1,
    doc: 'Maximum number of entities in one transaction: `$atomic`, `$method=validate`, `$refresh`, and the entities that the deletion of one entity deletes or changes. Other writes wait for the transaction.',
  }),
  'write.maxTransactionNames': integer({
    default: 200_000,
    min: 1,
    doc: 'Maximum number of names in the body of a save in one transaction, including names within objects.',
  }),
  'write.maxProblems': integer({
    default: 20,
    min: 1,
    doc: 'Maximum number of problems of one entity that the answer to a save describes; it gives the number of further problems.',
  }),
  'write.maxDescribed': integer({
    default: 1000,
    min: 1,
    doc: 'Maximum number of entities of one save whose problems the answer describes; for further entities it has only the error code.',
  }),
} as const
