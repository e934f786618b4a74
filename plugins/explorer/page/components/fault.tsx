import { RestError } from '../base/rest.ts'
import { isLoggingIn, user } from '../base/session.ts'
import { LoginButton } from './login-button.tsx'
import { text } from './texts.ts'

interface FaultProps {
  readonly error: unknown
  /** Sends the request again. */
  readonly again?: () => void
}

/** The faults of an answer, with their codes, and possible remedies. */
export function Fault({ error, again }: FaultProps) {
  const faults = error instanceof RestError ? error.faults : []
  const isRefused = error instanceof RestError && (error.status === 401 || error.status === 403)
  return (
    <div class="fault" role="alert">
      {faults.length > 0
        ? faults.map(({ message, errCode }) => (
            <p key={`${errCode} ${message}`}>
              {message} <small>{errCode}</small>
            </p>
          ))
        : error instanceof Error && <p>{error.message}</p>}
      {again && (
        <button type="button" onClick={again}>
          {text('again')}
        </button>
      )}
      {isRefused && !user.value && !isLoggingIn.value && <LoginButton />}
    </div>
  )
}
