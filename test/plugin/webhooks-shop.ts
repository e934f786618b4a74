/** A shop whose orders are watched by webhooks. */
import type { Test } from 'tap'
import { type ServerOptions, startServer, type TestServer } from '../support/servers/test-server.ts'
import { SECRET } from '../support/services/webhook-receiver.ts'

export const model = {
  name: 'shop',
  dataClasses: {
    Customer: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string' },
        orders: { kind: 'relatedEntities', type: 'OrderSelection', inverseName: 'customer' },
      },
    },
    Order: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        title: { type: 'string', indexed: true },
        amount: { type: 'number' },
        big: { type: 'long64' },
        note: { type: 'string' },
        secret: { type: 'string', scope: 'private' },
        customerID: { type: 'long' },
        customer: { kind: 'relatedEntity', type: 'Customer', foreignKey: 'customerID', inverseName: 'orders' },
      },
    },
  },
}
export const shop = { model, rows: { Customer: [{ name: 'Ada' }, { name: 'Kurt' }] } }
export const FAST = { allowPrivate: true, firstRetrySeconds: 0.01, maxRetrySeconds: 0.02 }

interface Options extends ServerOptions {
  readonly plugins?: readonly unknown[]
  readonly pluginOptions?: object
}

export async function open(t: Test, hooks: readonly object[], options: Options = {}): Promise<TestServer> {
  const { plugins = [], pluginOptions, config, ...others } = options
  const all = hooks.map(hook => ({ name: 'orders', secret: SECRET, dataClass: 'Order', ...FAST, ...hook }))
  const webhooks = { plugin: 'tesser/plugins/webhooks', options: { hooks: all, ...pluginOptions } }
  return startServer(t, shop, {
    isChanged: true,
    config: { auth: { guestsAdministrate: true }, ...config, plugins: [...plugins, webhooks] },
    ...others,
  })
}

export const update = (server: TestServer, body: object) => server.post('/Order?$method=update', body)
export const stateOf = async (server: TestServer) => (await server.get('/$webhooks/orders')).json
