import { join } from 'node:path'
import t from 'tap'
import { findPostgres } from '../../../bench/postgres/installation.ts'

t.test('a server on the PATH is found, if all its programs are there', async t => {
  const folder = t.testdir({ some: { initdb: '' }, all: { initdb: '', postgres: '', pg_isready: '' } })
  const path = process.env.PATH
  t.teardown(() => {
    process.env.PATH = path
  })
  process.env.PATH = `${join(folder, 'some')}:${join(folder, 'all')}`
  const found = findPostgres()
  if ('missing' in found) t.match(found.missing, /refuses to run as root/)
  else t.match(found, { bin: join(folder, 'all'), owner: process.getuid?.() === 0 ? { uid: Number } : undefined })
})
