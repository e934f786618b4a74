import { isLoggingIn } from '../base/session.ts'
import { text } from './texts.ts'

/** Opens the login dialog, which the session menu shows. */
export function LoginButton() {
  return (
    <button
      type="button"
      onClick={() => {
        isLoggingIn.value = true
      }}
    >
      {text('logIn')}
    </button>
  )
}
