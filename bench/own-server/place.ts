import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const MODEL = {
  name: 'own-server',
  dataClasses: {
    Document: {
      key: 'ID',
      attributes: { ID: { type: 'long', autoFill: 'increment' }, image: { type: 'image' }, content: { type: 'blob' } },
    },
  },
}

/**
 * A folder with a configuration, removed when this process ends.
 * @param data path of an existing store; by default, the store is new
 * @param options further configuration
 * @param name of the folder, if a case has several servers
 */
export function makePlace(model: object = MODEL, data = 'store', options: object = {}, name = 'own-server'): string {
  const folder = resolve('.tesser/bench', `${name}-${process.pid}`)
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'model.json'), JSON.stringify(model))
  // All clients are guests and share one address.
  const config = {
    model: 'model.json',
    data,
    server: { port: 0 },
    log: { level: 'error' },
    upload: { guestBytesPerAddress: '2 GiB' },
    ...options,
  }
  writeFileSync(join(folder, 'tesser.config.json'), JSON.stringify(config))
  return folder
}
