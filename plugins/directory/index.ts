import { Type } from '@sinclair/typebox'
import { parseJsonBody } from '../../engine/index.ts'
import { definePlugin, json, methodNotApplicable, type Reply, type RestRequest } from '../../kernel/api.ts'
import { DirectoryErrors } from './errors.ts'
import { LoginThrottle } from './login-throttle.ts'

/**
 * Logging in as clients of older servers do.
 *
 *   POST /$directory/login                  headers username-4D, password-4D, session-4D-length (minutes)
 *                                           or the body ["user", "password", seconds]
 *        →  { "result": true } and the cookie of a new session; 401 and { "result": false, "__ERROR": […] }
 *   GET  /$directory/currentUser            →  { "result": { userName, fullName, ID } }, null for a guest
 *   POST /$directory/currentUserBelongsTo   ["group"]  →  { "result": true }
 *   POST /$directory/logout                 →  { "result": true }; the session ends
 *
 * Users come from the file that `tesser user` writes, or from another plugin. Too many failures of one user name or one
 * address are answered with 429. Source: protocol notes, 8.3.
 */
export default definePlugin({
  name: 'directory',
  kernel: '^1.0.0',
  options: Type.Object({
    failuresPerMinute: Type.Integer({
      default: 10,
      minimum: 1,
      description: 'Failed logins of one user name, and of one address, in a minute.',
    }),
  }),
  register({ service, sessions, identities, now }, { failuresPerMinute }) {
    const throttle = new LoginThrottle(failuresPerMinute, now)

    const login = async (request: RestRequest): Promise<Reply> => {
      const { header, remoteAddress } = request.transport
      const fromHeaders = {
        name: header.call(request.transport, 'username-4d'),
        password: header.call(request.transport, 'password-4d'),
        idleMinutes: Number(header.call(request.transport, 'session-4d-length')) || 0,
      }
      const credentials = fromHeaders.name === '' ? fromBody(await request.body()) : fromHeaders
      throttle.admit(credentials.name, remoteAddress)
      const user = await throttle.watch(credentials.name, remoteAddress, () =>
        identities.directory.authenticate(credentials.name, credentials.password),
      )
      if (!user) {
        const { entries, httpStatus } = DirectoryErrors.LOGIN_FAILED()
        return json({ result: false, __ERROR: entries }, httpStatus)
      }
      request.session = await sessions.renew(request.session, user, user.granted, credentials.idleMinutes)
      return json({ result: true })
    }

    const logout = async (request: RestRequest): Promise<Reply> => {
      await sessions.end(request.session)
      request.session = sessions.guest(request.transport)
      return json({ result: true })
    }

    const currentUser = ({ session: { user } }: RestRequest): Reply =>
      json({ result: user ? { userName: user.userName, fullName: user.fullName ?? '', ID: user.id ?? '' } : null })

    const belongsTo = async (request: RestRequest): Promise<Reply> => {
      const body = parseJsonBody(await request.body())
      const group = Array.isArray(body) ? body[0] : body
      if (typeof group !== 'string') throw DirectoryErrors.NO_GROUP()
      const groups = request.session.user?.groups ?? []
      return json({ result: groups.some(each => each.toLowerCase() === group.toLowerCase()) })
    }

    service('$directory', { verbs: ['GET', 'POST'], guests: true }, request => {
      const [command = ''] = request.parts
      // A link or an image on somebody's page must not be able to log in.
      if (command === 'login')
        return request.verb === 'POST' ? login(request) : methodNotApplicable(command, request.verb, ['POST'])
      if (command === 'logout') return logout(request)
      if (command === 'currentUser') return currentUser(request)
      if (command === 'currentUserBelongsTo') return belongsTo(request)
      throw DirectoryErrors.UNKNOWN_COMMAND(command.slice(0, 100))
    })
  },
})

interface Credentials {
  name: string
  password: string
  /** As the client wants it; 0: the usual. */
  idleMinutes: number
}

function fromBody(bytes: Uint8Array): Credentials {
  const body = bytes.length > 0 ? parseJsonBody(bytes) : undefined
  const [name, password, seconds] = Array.isArray(body) ? (body as unknown[]) : []
  if (typeof name !== 'string' || typeof password !== 'string') throw DirectoryErrors.NO_CREDENTIALS()
  return { name, password, idleMinutes: typeof seconds === 'number' ? seconds / 60 : 0 }
}
