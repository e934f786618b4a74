import {
  definePlugin,
  json,
  methodNotApplicable,
  type Reply,
  type RestRequest,
  type User,
  type ServiceSpec,
} from '../../kernel/api.ts'
import { DirectoryErrors } from './errors.ts'
import { OPERATIONS } from './operations.ts'

/**
 * Login for clients of older servers.
 *
 *   POST /$directory/login                  headers username-4D, password-4D, session-4D-length (minutes)
 *                                           or the body ["user", "password", seconds]
 *        →  { "result": true } and the cookie of a new session; 401 and { "result": false, "__ERROR": […] }
 *   GET  /$directory/currentUser            →  { "result": { userName, fullName, ID }, "privileges": ["viewStaff"],
 *                                           "administrator": false }; `result` is null for a guest, and a user
 *                                           without an id has the name for an ID
 *   POST /$directory/currentUserBelongsTo   ["group"]  →  { "result": true }
 *   POST /$directory/logout                 →  { "result": true }; the session ends
 *
 * Users come from the file that `tesser user` writes, or from another plugin. After too many failures a login is answered with 429, and
 * with 503 while too many others are being checked. Source: protocol notes, 8.3.
 */
export default definePlugin({
  name: 'directory',
  kernel: '^1.0.0',
  register({ service, sessions, logins }) {
    const login = async (request: RestRequest): Promise<Reply> => {
      const { header, client } = request.transport
      const fromHeaders = {
        name: header.call(request.transport, 'username-4d'),
        password: header.call(request.transport, 'password-4d'),
        idleMinutes: Number(header.call(request.transport, 'session-4d-length')) || 0,
      }
      const credentials = fromHeaders.name === '' ? fromBody(await request.json()) : fromHeaders
      const user = await logins.check(credentials.name, credentials.password, client.network)
      if (!user) {
        const { entries, httpStatus } = DirectoryErrors.LOGIN_FAILED()
        return json({ result: false, __ERROR: entries }, httpStatus)
      }
      const { session, transport } = request
      request.session = await sessions.renew(session, user, user.granted, transport, credentials.idleMinutes)
      return json({ result: true })
    }

    const logout = async (request: RestRequest): Promise<Reply> => {
      request.refuseOtherPages()
      await sessions.end(request.session)
      request.session = sessions.guest(request.transport)
      return json({ result: true })
    }

    const currentUser = ({ session: { user }, callerSession, isAdministrator }: RestRequest): Reply =>
      json({
        result: user ? { userName: user.userName, fullName: user.fullName ?? '', ID: idOf(user) } : null,
        privileges: callerSession.data.privileges,
        administrator: isAdministrator,
      })

    const belongsTo = async (request: RestRequest): Promise<Reply> => {
      const body = await request.json()
      const group = Array.isArray(body) ? body[0] : body
      if (typeof group !== 'string') throw DirectoryErrors.NO_GROUP()
      const groups = request.session.user?.groups ?? []
      return json({ result: groups.some(each => each.toLowerCase() === group.toLowerCase()) })
    }

    service('$directory', DIRECTORY, request => {
      const [command = ''] = request.parts
      // A link or an image on another site's page must not be able to log in.
      if (command === 'login')
        return request.verb === 'POST' ? login(request) : methodNotApplicable(command, request.verb, ['POST'])
      if (command === 'logout') return logout(request)
      if (command === 'currentUser') return currentUser(request)
      if (command === 'currentUserBelongsTo') return belongsTo(request)
      throw DirectoryErrors.UNKNOWN_COMMAND(command.slice(0, 100))
    })
  },
})

const DIRECTORY: ServiceSpec = {
  verbs: ['GET', 'POST'],
  guests: true,
  doc: 'Logins, and the user of the session.',
  section: 'protocol',
  tag: 'session',
  operations: OPERATIONS,
}

/** Never empty: clients treat an empty `ID` as a guest. A name is as stable as an id, and also unique. */
const idOf = ({ id, userName }: User): string | number => (id === undefined || id === '' ? userName : id)

interface Credentials {
  name: string
  password: string
  /** Requested by the client; 0 for the default. */
  idleMinutes: number
}

function fromBody(body: unknown): Credentials {
  const [name, password, seconds] = Array.isArray(body) ? (body as unknown[]) : []
  if (typeof name !== 'string' || typeof password !== 'string') throw DirectoryErrors.NO_CREDENTIALS()
  return { name, password, idleMinutes: typeof seconds === 'number' ? seconds / 60 : 0 }
}
