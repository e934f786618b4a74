import { ask } from '../base/rest.ts'
import { time } from '../base/amounts.ts'
import { List } from './list.tsx'
import { Part } from './part.tsx'
import { text } from './texts.ts'

interface SessionInfo {
  /** A handle, not the content of the cookie. */
  readonly sessionID: string
  readonly userName: string
  /** Seconds without a request after which the session ends. */
  readonly lifeTime: number
  readonly expiration: string
}

interface Answer {
  readonly sessionInfo: readonly SessionInfo[]
  /** Handle of the session of this page. */
  readonly currentSession: string
}

/** Number of handles that fit into one address. */
const TOGETHER = 50

async function end(ids: readonly string[]): Promise<string> {
  for (let at = 0; at < ids.length; at += TOGETHER) {
    const some = ids.slice(at, at + TOGETHER).join(',')
    await ask(`$info/sessionInfo/release/${some}`, {}, { method: 'POST' })
  }
  return text('sessionsEnded', { count: ids.length })
}

export function Sessions() {
  return (
    <Part<Answer> path="$info/sessionInfo">
      {({ sessionInfo, currentSession }, act) => {
        const otherIds = sessionInfo.map(each => each.sessionID).filter(id => id !== currentSession)
        return (
          <>
            <button type="button" disabled={otherIds.length === 0} onClick={() => act(() => end(otherIds))}>
              {text('endOthers')}
            </button>
            <List
              title={text('sessions')}
              rows={sessionInfo}
              idOf={each => each.sessionID}
              searched={each => `${each.userName} ${each.sessionID}`}
              columns={[
                {
                  title: text('user'),
                  show: ({ userName, sessionID }) => (
                    <>
                      {userName || <small>{text('guest')}</small>}
                      {sessionID === currentSession && <small class="chip">{text('thisOne')}</small>}
                    </>
                  ),
                },
                { title: text('session'), show: ({ sessionID }) => <code>{sessionID}</code> },
                {
                  title: text('idle'),
                  show: ({ lifeTime }) => text('minutes', { count: Math.round(lifeTime / 60) }),
                  isNumber: true,
                },
                { title: text('expires'), show: ({ expiration }) => time(expiration) },
                {
                  title: text('action'),
                  show: ({ sessionID }) => (
                    <button type="button" onClick={() => act(() => end([sessionID]))}>
                      {text('end')}
                    </button>
                  ),
                },
              ]}
            />
          </>
        )
      }}
    </Part>
  )
}
