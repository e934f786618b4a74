/**
 * Two servers over one database behind a proxy, one of which is killed while clients work. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { startNodes, USER } from '../../bench/nodes/start-nodes.ts'
import { findPostgres } from '../../bench/postgres/installation.ts'
import { until } from '../support/base/until.ts'

const CLIENTS = 6
const installation = findPostgres()
if ('missing' in installation) t.comment(`skipped: PostgreSQL: ${installation.missing}`)
else {
  const { proxy, nodes, close } = await startNodes(2, 0)
  t.teardown(close)
  const LOGIN = { 'username-4D': USER.name, 'password-4D': USER.password }
  const send = (path: string, init: RequestInit = {}, url = proxy.url) => fetch(`${url}/rest${path}`, init)
  const post = (path: string, headers: Record<string, string>, body?: object) =>
    send(path, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) })
  const cookieOf = (answer: Response): string => answer.headers.get('set-cookie')!.split(';')[0]!

  t.test('what one server has acknowledged is there when it is killed', async t => {
    const kept: { cookie: string; set: string; movie: number }[] = []
    let isOver = false
    /** Logs in, makes a set, locks a movie and changes it, again and again; failures are not counted. */
    const work = async (client: number): Promise<void> => {
      for (let i = 0; !isOver; i++) {
        try {
          const login = await post('/$directory/login', LOGIN)
          if (login.status !== 200) continue
          const cookie = cookieOf(login)
          const made = await send('/Movie?$filter="rating > 7"&$method=entityset&$top=1', { headers: { cookie } })
          if (made.status !== 200) continue
          const set = ((await made.json()) as { __ENTITYSET: string }).__ENTITYSET.slice('/rest'.length)
          const movie = 1 + client + CLIENTS * i
          const locked = await post(`/Movie(${movie})?$lock=true`, { cookie })
          if (locked.status === 200) kept.push({ cookie, set, movie })
        } catch {
          // The server was killed meanwhile.
        }
      }
    }
    const working = Array.from({ length: CLIENTS }, (_, client) => work(client))
    t.ok(await until(() => kept.length >= 2 * CLIENTS))
    await nodes[0]!.stop('SIGKILL')
    const { length } = kept
    t.ok(await until(() => kept.length >= length + 2 * CLIENTS), 'the other goes on')
    isOver = true
    await Promise.all(working)

    const other = cookieOf(await post('/$directory/login', LOGIN))
    for (const { cookie, set, movie } of kept) {
      const user = (await (await send('/$directory/currentUser', { headers: { cookie } })).json()) as {
        result: { userName: string } | null
      }
      t.equal(user.result?.userName, USER.name)
      t.equal((await send(set, { headers: { cookie } })).status, 200)
      const change = { __KEY: String(movie), __STAMP: 1, rating: 1 }
      t.equal((await post('/Movie?$method=update', { cookie: other }, change)).status, 409, 'it is locked')
      t.equal((await post('/Movie?$method=update', { cookie }, change)).status, 200)
    }
    await nodes[0]!.start()
    const [{ cookie, set }] = kept as [(typeof kept)[0]]
    for (const { url } of nodes) t.equal((await send(set, { headers: { cookie } }, url)).status, 200, 'it is back')
  })
}
