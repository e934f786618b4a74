import { bytes, choice, flag, integer, number } from '../option.ts'

/** The store, its memory and caches. */
export const storageOptions = {
  'storage.mapSizeBytes': bytes({
    default: '64 GiB',
    min: 2 ** 20,
    doc: 'Address space that is reserved for the store, neither memory nor disk. A store that outgrows it is given more: its size is not bounded.',
  }),
  'storage.cacheBytes': bytes({
    default: '256 MiB',
    min: 2 ** 20,
    doc: 'Memory for columns of values that filters and sorts read.',
  }),
  'storage.memoryBytes': bytes({
    default: '4 GiB',
    min: 0,
    doc: 'Memory for columns, indexes and rows that all threads share, at most half of the machine; 0 reads all from LMDB.',
  }),
  'storage.imageMinutes': number({
    default: 10,
    min: 0,
    max: 10_000,
    doc: 'Minimum time between two images of that memory in the folder of the store, which make the next start fast; 0 for none.',
  }),
  'storage.imageChanges': integer({
    default: 1000,
    min: 0,
    doc: 'Minimum number of changed entities since the last image; with fewer none is written, not even when the server stops.',
  }),
  'storage.binaryCacheBytes': bytes({
    default: '64 MiB',
    min: 0,
    doc: 'Memory for pieces of the images and blobs that were sent most recently.',
  }),
  'storage.lock': choice({
    default: 'file',
    of: ['file', 'lease'],
    doc: 'Protection of a store against a second server: `file` is a lock of the operating system; `lease` an entry in the store that is renewed every 5 seconds, for file systems whose locks do not reach all machines.',
  }),
  'storage.lockWaitMs': integer({
    default: 10_000,
    min: 0,
    doc: 'Time that a start waits until another process releases the store, for example one that was killed and has not ended yet.',
  }),
  'storage.log': choice({
    default: 'on',
    of: ['on', 'off'],
    doc: 'How writes become durable: `on` by a log in front of the data file, one write and one sync for all writes that wait; `off` by the data file itself, whose pages are written and synced each time. A store that is held by a lease has no log.',
  }),
  'storage.logBytes': bytes({
    default: '0 MiB',
    min: 0,
    doc: 'Size up to which the log keeps records that no start needs; what it needs is never removed.',
  }),
  'storage.logHours': number({
    default: 24,
    min: 0,
    max: 100_000,
    doc: 'Maximum age of such records.',
  }),
  'storage.spoolBytes': bytes({
    default: '4 GiB',
    min: 0,
    doc: 'Disk for answers of more than 1 MiB until they are sent; beyond it the server answers 503.',
  }),
  'storage.exportBytes': bytes({
    default: '16 GiB',
    min: 0,
    doc: 'Disk for exports (`$format=csv`, `$format=ndjson`) of more than 1 MiB until they are sent; beyond it the server answers 503.',
  }),
  'storage.allowLoss': flag({
    default: false,
    doc: 'Let a changed model delete the data of dataclasses and attributes that it no longer has, and a store whose log is damaged go on without the changes that only that part of the log has.',
  }),
} as const
