import { integer, text } from '../option.ts'

/** Several servers with the same data. */
export const nodesOptions = {
  'nodes.connection': text<string | undefined>({
    default: undefined,
    doc: 'Name of the connection in whose database several servers share sessions, and the entity sets and locks of dataclasses in databases ([Several servers](../operate/several-servers.md)). Without it they are those of one server.',
  }),
  'nodes.sessionSeconds': integer({
    default: 2,
    min: 0,
    max: 60,
    doc: 'Time for which a server goes by its copy of a shared session: what another server changes, such as a logout, takes effect after it. 0: every request of a session reads it.',
  }),
} as const
