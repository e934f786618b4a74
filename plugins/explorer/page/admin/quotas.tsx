import { number } from '../base/texts.ts'
import { type Column, List } from './list.tsx'
import { Part } from './part.tsx'
import { text } from './texts.ts'

interface Use {
  readonly requests: number
  readonly cost: number
}
type SessionUse = Use & { readonly sessionID: string }
type AddressUse = Use & { readonly address: string; readonly concurrent: number }

interface Answer {
  readonly limits: Readonly<
    Record<
      'requestsPerSession' | 'requestsPerAddress' | 'costPerSession' | 'costPerAddress' | 'concurrentPerAddress',
      number
    >
  >
  readonly sessions: readonly SessionUse[]
  readonly addresses: readonly AddressUse[]
}

const of = (amount: number, limit: number): string =>
  limit === 0 ? number(amount) : `${number(amount)} / ${number(limit)}`

export function Quotas() {
  return <Part<Answer> path="$info/quotas">{answer => <Report {...answer} />}</Part>
}

function Report({ limits, sessions, addresses }: Answer) {
  const isLimited = Object.values(limits).some(limit => limit > 0)
  if (!isLimited) return <p class="hint">{text('noQuotas')}</p>
  const usageColumns = <Row extends Use>(requests: number, cost: number): readonly Column<Row>[] => [
    { title: text('requestsUsed'), show: each => of(each.requests, requests), isNumber: true },
    { title: text('rowsUsed'), show: each => of(each.cost, cost), isNumber: true },
  ]
  return (
    <>
      <h3>{text('sessions')}</h3>
      <List
        title={text('sessions')}
        rows={sessions}
        idOf={each => each.sessionID}
        columns={[
          { title: text('session'), show: each => <code>{each.sessionID}</code> },
          ...usageColumns<SessionUse>(limits.requestsPerSession, limits.costPerSession),
        ]}
      />
      <h3>{text('addresses')}</h3>
      <List
        title={text('addresses')}
        rows={addresses}
        idOf={each => each.address}
        columns={[
          { title: text('address'), show: each => each.address },
          ...usageColumns<AddressUse>(limits.requestsPerAddress, limits.costPerAddress),
          {
            title: text('concurrent'),
            show: each => of(each.concurrent, limits.concurrentPerAddress),
            isNumber: true,
          },
        ]}
      />
    </>
  )
}
