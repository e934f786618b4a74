/**
 * A server that answers the requests of a clone as 4D does, with what differs from Tesser: cookies, `d!m!yyyy`, foreign keys that the
 * catalog does not show, entity sets that end, links with keys. Written after the base specification and the protocol notes; nothing of
 * Tesser is used.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export type FourDEntity = Record<string, unknown>

export interface FourDClass {
  readonly name: string
  readonly key: string
  /** As in the catalog. `hidden` attributes are not shown. */
  readonly attributes: readonly (Record<string, unknown> & {
    name: string
    kind: string
    type: string
    hidden?: true
  })[]
  readonly methods?: readonly { name: string }[]
  /** Entities by key, with their values; of a relation to one its key. */
  readonly entities: Map<string, { stamp: number; values: FourDEntity; time?: string }>
}

export interface FourDServer {
  readonly url: string
  readonly classes: readonly FourDClass[]
  /** Paths of the requests, in their order. */
  readonly requests: string[]
  /** Most requests at once so far. */
  mostAtOnce: number
  /** Called before a request is answered; true: it has answered it itself. */
  hook?: (path: string, request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>
  /** Requests that an entity set lives for. */
  setLife: number
  /** Saves values, with the next stamp. */
  put(dataClass: string, values: FourDEntity): void
  remove(dataClass: string, key: unknown): void
  /** Forgets sessions and entity sets, as a server that is started again. */
  endSessions(): void
  /** Guests may read, but not these entities; without it they may read nothing where there are users. */
  hidesFromGuests?: (dataClass: string, key: string) => boolean
}

export interface FourDOptions {
  readonly users?: Readonly<Record<string, string>>
  /** A function that logs in. */
  readonly authentify?: string
}

const FIRST_TIME = Date.UTC(2026, 0, 31, 9, 30)

export async function startFourD(
  t: Test,
  classes: readonly FourDClass[],
  { users, authentify }: FourDOptions = {},
): Promise<FourDServer> {
  const sets = new Map<string, { dataClass: string; keys: string[]; life: number }>()
  const sessions = new Map<string, boolean>()
  let atOnce = 0
  let changes = 0
  const http = createServer((request, response) => {
    atOnce++
    server.mostAtOnce = Math.max(server.mostAtOnce, atOnce)
    response.on('close', () => atOnce--)
    void answer(request, response).catch(error => response.destroy(error as Error))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.teardown(() => {
    http.closeAllConnections()
    http.close()
  })
  const server: FourDServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/rest`,
    classes,
    requests: [],
    mostAtOnce: 0,
    setLife: Number.POSITIVE_INFINITY,
    put(dataClass, values) {
      const { key, entities } = classOf(dataClass)!
      const id = String(values[key])
      const old = entities.get(id)
      const time = new Date(FIRST_TIME + ++changes).toISOString()
      entities.set(id, { stamp: (old?.stamp ?? 0) + 1, values: { ...old?.values, ...values }, time })
    },
    remove: (dataClass, key) => void classOf(dataClass)!.entities.delete(String(key)),
    endSessions() {
      sessions.clear()
      sets.clear()
    },
  }
  const classOf = (name: string): FourDClass | undefined => classes.find(each => each.name === name)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(request.url!.replace(/^\/rest\//, ''))
    server.requests.push(path)
    if (await server.hook?.(path, request, response)) return
    const [, cookie] = /WASID4D=(\w+)/.exec(request.headers.cookie ?? '') ?? []
    let session = cookie !== undefined && sessions.has(cookie) ? cookie : undefined
    if (session === undefined) {
      session = randomBytes(16).toString('hex')
      sessions.set(session, users === undefined)
      response.setHeader('set-cookie', `WASID4D=${session}; Path=/; HttpOnly; Max-Age=3600`)
    }
    const json = (value: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(value))
    }
    const fail = (status: number, errCode: number, message: string): void =>
      json(
        { __ERROR: [{ message: `Error code: ${errCode}\n${message}`, componentSignature: 'dbmg', errCode }] },
        status,
      )
    const body = await bodyOf(request)
    const [resource, query = ''] = path.split('?') as [string, string?]
    const parameters = new Map(query.split('&').map(pair => pair.split(/=(.*)/s).slice(0, 2) as [string, string]))
    if (resource === '$directory/login') {
      const { 'username-4d': user, 'password-4d': password } = request.headers
      const isRight = users?.[String(user)] === password
      sessions.set(session, isRight)
      return json({ result: isRight })
    }
    if (authentify !== undefined && resource === `$catalog/${authentify}`) {
      const [user, password] = JSON.parse(body) as [string, string]
      sessions.set(session, users?.[user] === password)
      return json({ result: users?.[user] === password })
    }
    if (resource === '$catalog/$all') return json({ dataClasses: classes.map(describe) })
    const isGuest = !sessions.get(session)
    const { hidesFromGuests } = server
    if (isGuest && !hidesFromGuests) return fail(401, 1557, 'No permission to read')
    const [first, ...parts] = resource.split('/') as [string, ...string[]]
    const [, name, key] = /^(\w+)(?:\((.*)\))?$/.exec(first) ?? []
    const dataClass = classOf(name ?? '')
    if (!dataClass) return fail(404, 1800, 'no such dataclass')
    if (parts[0] === '$entityset' && parts[1] === '$release') {
      for (const id of JSON.parse(body) as string[]) sets.delete(id)
      return json({ ok: true })
    }
    if (key !== undefined) {
      const bytes = dataClass.entities.get(key)?.values[parts[0]!]
      if (!Buffer.isBuffer(bytes)) return fail(404, 1543, 'no such entity')
      const type = parameters.get('$binary') ? 'application/octet-stream' : 'image/png'
      response.writeHead(200, { 'content-type': type }).end(bytes)
      return
    }
    const at = parts.indexOf('$entityset')
    const names = parts[0] !== undefined && at !== 0 ? parts[0].split(',') : undefined
    const unknown = names?.find(each => !shownOf(dataClass).some(attribute => attribute.name === each))
    if (unknown !== undefined) return fail(404, 1804, `no attribute ${unknown}`)
    let keys = [...dataClass.entities.keys()].filter(each => !isGuest || !hidesFromGuests!(name!, each))
    if (at >= 0) {
      const set = sets.get(parts[at + 1]!)
      if (!set || set.dataClass !== name || --set.life < 0) return fail(404, 1802, 'no such entity set')
      keys = set.keys
    }
    const skip = Number(parameters.get('$skip') ?? 0)
    const top = Number(parameters.get('$top') ?? 100)
    const isNew = parameters.get('$method') === 'entityset'
    const id = randomBytes(16).toString('hex').toUpperCase()
    if (isNew) sets.set(id, { dataClass: name!, keys, life: server.setLife })
    const page = keys.slice(skip, skip + top).map(each => entity(dataClass, each, names))
    json({
      ...(isNew && { __ENTITYSET: `/rest/${name}/$entityset/${id}` }),
      __DATACLASS: name,
      __entityModel: name,
      __GlobalStamp: 0,
      __COUNT: keys.length,
      __FIRST: skip,
      __ENTITIES: page,
      __SENT: page.length,
    })
  }

  const shownOf = ({ attributes }: FourDClass): FourDClass['attributes'] => attributes.filter(({ hidden }) => !hidden)

  function describe(dataClass: FourDClass): object {
    const { name, key, methods } = dataClass
    return {
      name,
      className: name,
      collectionName: `${name}Selection`,
      tableNumber: classes.indexOf(dataClass) + 1,
      scope: 'public',
      dataURI: `/rest/${name}`,
      attributes: shownOf(dataClass),
      ...(methods && { methods }),
      key: [{ name: key }],
    }
  }

  function entity(dataClass: FourDClass, key: string, names: readonly string[] | undefined): object {
    const found = dataClass.entities.get(key)
    if (!found) return { __STAMP: 0 }
    const values = shownOf(dataClass)
      .filter(({ name }) => names?.includes(name) ?? true)
      .map(attribute => [attribute.name, wire(dataClass, key, found, attribute)])
    const stamp = { __KEY: key, __TIMESTAMP: found.time ?? new Date(FIRST_TIME).toISOString(), __STAMP: found.stamp }
    return { ...stamp, ...Object.fromEntries(values) }
  }

  function wire(
    { name: owner }: FourDClass,
    key: string,
    { stamp, values }: { stamp: number; values: FourDEntity },
    { name, kind, type, simpleDate }: FourDClass['attributes'][number],
  ): unknown {
    if (kind === 'relatedEntities') return { __deferred: { uri: `/rest/${owner}(${key})/${name}?$expand=${name}` } }
    const value = values[name] ?? null
    if (value === null) return null
    if (kind === 'relatedEntity') return { __deferred: { uri: `/rest/${type}(${value})`, __KEY: String(value) } }
    const link = `/rest/${owner}(${key})/${name}`
    if (type === 'image')
      return { __deferred: { uri: `${link}?$imageformat=best&$version=${stamp}&$expand=${name}`, image: true } }
    if (type === 'blob') return { __deferred: { uri: `${link}?$binary=true&$expand=${name}` } }
    if (type === 'date' && simpleDate) {
      const [year, month, day] = String(value).split('-').map(Number)
      return `${day}!${month}!${year}`
    }
    return value
  }
  return server
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}
