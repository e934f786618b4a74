import { RestError } from '../base/rest.ts'

/** The faults of an answer, with the codes of the protocol. */
export function Fault({ error }: { readonly error: unknown }) {
  const faults = error instanceof RestError ? error.faults : []
  return (
    <div class="fault" role="alert">
      {faults.length > 0
        ? faults.map(({ message, errCode }) => (
            <p key={`${errCode} ${message}`}>
              {message} <small>{errCode}</small>
            </p>
          ))
        : error instanceof Error && <p>{error.message}</p>}
    </div>
  )
}
