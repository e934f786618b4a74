import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

interface Installation {
  /** Folder of the programs. */
  bin: string
  /** User of the server, if it is not the one of this process. */
  owner: Owner | undefined
}

export interface Owner {
  uid: number
  gid: number
}

const DEBIAN = '/usr/lib/postgresql'
const PROGRAMS = ['initdb', 'postgres', 'pg_isready']

/** The PostgreSQL server on this machine: the one on the PATH, or else the newest Debian package. */
export function findPostgres(): Installation | { missing: string } {
  const ofDebian = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...ofDebian.map(version => join(DEBIAN, version, 'bin')),
  ]
  const bin = folders.find(folder => folder && PROGRAMS.every(name => existsSync(join(folder, name))))
  if (!bin) return { missing: 'it is not installed' }
  // It refuses to run as root.
  if (process.getuid?.() !== 0) return { bin, owner: undefined }
  const owner = userNamed('postgres')
  return owner ? { bin, owner } : { missing: 'it refuses to run as root, and there is no user "postgres"' }
}

function userNamed(name: string): Owner | undefined {
  const lines = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : []
  const [, , uid, gid] = lines.find(line => line.startsWith(`${name}:`))?.split(':') ?? []
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined
}
