import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Names of the files of images and blobs in a store, including those that are being received. */
export const storedFiles = (store: string): string[] =>
  [join(store, 'files'), join(store, 'files', 'incoming')].flatMap(folder =>
    existsSync(folder) ? readdirSync(folder).filter(name => name !== 'incoming') : [],
  )
