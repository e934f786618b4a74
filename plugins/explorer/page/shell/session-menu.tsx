import { isAdministrator, isLoggingIn, logOut, privileges, user } from '../base/session.ts'
import { complain } from '../base/work.ts'
import { LoginButton } from '../components/login-button.tsx'
import { LoginDialog } from './login.tsx'
import { text } from './texts.ts'

/** Menu with the user, the rights of the session, login and logout. */
export function SessionMenu() {
  const who = user.value
  const name = who ? who.fullName || who.userName : text('guest')
  return (
    <>
      <button type="button" class="who" popovertarget="session">
        {name}
      </button>
      <div id="session" popover="auto" class="session-menu">
        <b>{name}</b>
        {who && <small>{who.userName}</small>}
        <p>
          {text('privileges')}: {privileges.value.length > 0 ? privileges.value.join(', ') : text('none')}
        </p>
        {isAdministrator.value && <p>{text('administrator')}</p>}
        {who && (
          <button type="button" onClick={() => void logOut().catch(complain)}>
            {text('logOut')}
          </button>
        )}
      </div>
      {!who && <LoginButton />}
      {isLoggingIn.value && (
        <LoginDialog
          onClose={() => {
            isLoggingIn.value = false
          }}
        />
      )}
    </>
  )
}
