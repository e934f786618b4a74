/** A server with companies, whose guests may import rows. */
import type { Test } from 'tap'
import { startServer, type TestServer, usualTransports } from '../support/servers/test-server.ts'

export const model = {
  name: 'shop',
  dataClasses: {
    Company: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string', mandatory: true, maxLength: 20 },
        code: { type: 'string', unique: true },
        size: { type: 'number' },
        founded: { type: 'date', simpleDate: true },
        big: { type: 'long64' },
        ownerID: { type: 'long' },
        owner: { kind: 'relatedEntity', type: 'Company', foreignKey: 'ownerID' },
      },
    },
  },
}

export const open = (t: Test, transport = usualTransports[0]!): Promise<TestServer> =>
  startServer(t, { model, rows: {} }, { transport, config: { auth: { guestsAdministrate: true } } })

export const names = async (server: TestServer): Promise<string[]> =>
  (await server.get('/Company?$orderby="ID"&$asArray=true&$attributes=name')).json.map(
    ({ name }: { name: string }) => name,
  )
