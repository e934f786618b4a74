import { defineErrors } from '../../kernel/api.ts'

export const DirectoryErrors = defineErrors('DIRECTORY', {
  /** One message whether the user, the password or both were wrong. */
  LOGIN_FAILED: {
    errCode: 1561,
    http: 401,
    message: () => 'invalid user name or password',
  },
  NO_CREDENTIALS: {
    errCode: 1806,
    http: 400,
    message: () =>
      'a login needs the headers username-4D and password-4D, or the body ["user", "password"] or ["user", "password", seconds]',
  },
  NO_GROUP: {
    errCode: 1806,
    http: 400,
    message: () => 'the body is ["group"], the name of a group',
  },
  UNKNOWN_COMMAND: {
    errCode: 1806,
    http: 404,
    message: (received: string) =>
      `$directory has no ${received || 'answer of its own'}; it has login, logout, currentUser and currentUserBelongsTo`,
  },
})
