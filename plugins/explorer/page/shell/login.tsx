import { useEffect, useState } from 'preact/hooks'
import { RestError } from '../base/rest.ts'
import { logIn } from '../base/session.ts'
import { Dialog } from '../components/dialog.tsx'
import { Fault } from '../components/fault.tsx'
import { text } from './texts.ts'

export function LoginDialog({ onClose }: { readonly onClose: () => void }) {
  const [error, setError] = useState<unknown>()
  const [isSending, setSending] = useState(false)
  const wait = useCountdown(error)
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setSending(true)
    logIn(String(form.get('name')), String(form.get('password')))
      .then(onClose, setError)
      .finally(() => setSending(false))
  }
  return (
    <Dialog title={text('logIn')} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <label>
          {text('userName')}
          <input name="name" autocomplete="username" required />
        </label>
        <label>
          {text('password')}
          <input name="password" type="password" autocomplete="current-password" />
        </label>
        {error !== undefined && <Fault error={error} />}
        <button type="submit" class="main" disabled={isSending || wait > 0}>
          {wait > 0 ? text('wait', { count: wait }) : text('logIn')}
        </button>
      </form>
    </Dialog>
  )
}

/** Seconds until the next attempt, if the server says how long it refuses further ones. */
function useCountdown(error: unknown): number {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    setSeconds(error instanceof RestError ? (error.retryAfter ?? 0) : 0)
    const timer = setInterval(() => setSeconds(before => Math.max(0, before - 1)), 1000)
    return () => clearInterval(timer)
  }, [error])
  return seconds
}
