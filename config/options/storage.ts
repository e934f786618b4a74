import { bytes, choice, flag, integer, number } from '../option.ts'

/** Options for the store, its memory and caches. */
export const storageOptions = {
  'storage.mapSizeBytes': bytes({
    default: '64 GiB',
    min: 2 ** 20,
    doc: 'Address space to reserve for the store; it uses neither memory nor disk. A store that outgrows it gets more: this is not a limit on its size.',
  }),
  'storage.cacheBytes': bytes({
    default: '256 MiB',
    min: 2 ** 20,
    doc: 'Memory for columns of values that filters and sort orders read.',
  }),
  'storage.memoryBytes': bytes({
    default: '4 GiB',
    min: 0,
    doc: 'Memory for columns, indexes and rows that all threads share, at most half the memory of the machine; 0: read everything from LMDB.',
  }),
  'storage.imageMinutes': number({
    default: 10,
    min: 0,
    max: 10_000,
    doc: 'Minimum time in minutes between two images of the shared memory, which the server writes to the folder of the store so that the next start is fast; 0: no images.',
  }),
  'storage.imageChanges': integer({
    default: 1000,
    min: 0,
    doc: 'Minimum number of entities changed since the last image. If fewer have changed, the server writes no image, not even when it stops.',
  }),
  'storage.binaryCacheBytes': bytes({
    default: '64 MiB',
    min: 0,
    doc: 'Memory for pieces of the images and blobs that were sent most recently.',
  }),
  'storage.lock': choice({
    default: 'file',
    of: ['file', 'lease'],
    doc: 'How the store is protected against a second server: `file` is a lock of the operating system; `lease` is an entry in the store that is renewed every 5 seconds, for file systems whose locks do not reach all machines.',
  }),
  'storage.lockWaitMs': integer({
    default: 10_000,
    min: 0,
    doc: 'Time that a start waits for another process to release the store, for example a process that was killed but has not ended yet.',
  }),
  'storage.log': choice({
    default: 'on',
    of: ['on', 'off'],
    doc: 'How writes become durable: `on` appends all waiting writes to a commit log with one write and one sync; `off` writes and syncs the pages of the data file each time. A store with `storage.lock` set to `lease` has no commit log.',
  }),
  'storage.logBytes': bytes({
    default: '0 MiB',
    min: 0,
    doc: 'Size up to which the commit log keeps records that a start does not need. Records that a start needs are never removed.',
  }),
  'storage.logHours': number({
    default: 24,
    min: 0,
    max: 100_000,
    doc: 'Maximum age, in hours, of records that a start does not need.',
  }),
  'storage.spoolBytes': bytes({
    default: '4 GiB',
    min: 0,
    doc: 'Disk space for answers of more than 1 MiB until they are sent; beyond it the server answers 503.',
  }),
  'storage.exportBytes': bytes({
    default: '16 GiB',
    min: 0,
    doc: 'Disk space for exports (`$format=csv`, `$format=ndjson`) of more than 1 MiB until they are sent; beyond it the server answers 503.',
  }),
  'storage.allowLoss': flag({
    default: false,
    doc: 'Let a changed model delete the data of dataclasses and attributes that it no longer has, and let a store with a damaged commit log start without the changes that only the damaged part holds.',
  }),
} as const
