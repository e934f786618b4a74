import { integer, text } from '../option.ts'

/** Options for several servers with the same data. */
export const nodesOptions = {
  'nodes.connection': text<string | undefined>({
    default: undefined,
    doc: 'Name of the connection to the database in which several servers share sessions, and the entity sets and locks of remote dataclasses ([Several servers](../operate/several-servers.md)). Without it, each server keeps its own.',
  }),
  'nodes.sessionSeconds': integer({
    default: 2,
    min: 0,
    max: 60,
    doc: 'How long a server caches a shared session: a change on another server, such as a logout, takes effect after this time. 0: every request reads the session from the database.',
  }),
} as const
