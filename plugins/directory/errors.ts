import { defineErrors, errorsWith } from '../../engine/index.ts'

export const DirectoryErrors = defineErrors('DIRECTORY', {
  ...errorsWith({ errCode: 1561, http: 401 })({
    /** One message whether the user, the password or both were wrong. */
    LOGIN_FAILED: () => 'invalid user name or password',
  }),
  ...errorsWith({ errCode: 1806, http: 400 })({
    NO_CREDENTIALS: () =>
      'a login needs the headers username-4D and password-4D, or the body ["user", "password"] or ["user", "password", seconds]',
    NO_GROUP: () => 'the body is ["group"], the name of a group',
  }),
  ...errorsWith({ errCode: 1806, http: 404 })({
    UNKNOWN_COMMAND: (received: string) =>
      `$directory has no ${received || 'answer of its own'}; it has login, logout, currentUser and currentUserBelongsTo`,
  }),
})
