import { dataClasses } from '../base/catalog.ts'
import { linkTo } from '../base/place.ts'
import { time } from '../base/amounts.ts'
import { List } from './list.tsx'
import { Part } from './part.tsx'
import { text } from './texts.ts'

interface LockInfo {
  readonly dataClass: string
  readonly __KEY: string
  readonly sessionID: string
  readonly lockInfo: { readonly host: string; readonly IPAddr: string; readonly userAgent: string }
  /** Absent if the lock lasts as long as the session. */
  readonly expires?: string
}

interface Answer {
  readonly lockCount: number
  readonly locks: readonly LockInfo[]
}

export function Locks() {
  return (
    <Part<Answer> path="$info/locks">
      {({ lockCount, locks }) => (
        <List
          title={text('locks')}
          rows={locks}
          count={lockCount}
          idOf={({ dataClass, __KEY }) => `${dataClass} ${__KEY}`}
          searched={({ dataClass, __KEY, sessionID, lockInfo }) =>
            `${dataClass} ${__KEY} ${sessionID} ${lockInfo.IPAddr} ${lockInfo.userAgent}`
          }
          columns={[
            { title: text('dataClass'), show: ({ dataClass }) => dataClass },
            {
              title: text('entity'),
              show: ({ dataClass, __KEY }) =>
                dataClasses.value.has(dataClass) ? <a href={linkTo([dataClass], { entity: __KEY })}>{__KEY}</a> : __KEY,
            },
            { title: text('session'), show: ({ sessionID }) => <code>{sessionID}</code> },
            { title: text('address'), show: ({ lockInfo }) => lockInfo.IPAddr },
            { title: text('client'), show: ({ lockInfo }) => lockInfo.userAgent },
            { title: text('expires'), show: ({ expires }) => (expires ? time(expires) : text('withSession')) },
          ]}
        />
      )}
    </Part>
  )
}
