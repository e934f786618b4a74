import { linkTo, place } from '../base/place.ts'
import { isAdministrator, user } from '../base/session.ts'
import { AllFigures } from './all-figures.tsx'
import { EntitySets } from './entity-sets.tsx'
import { Jobs } from './jobs.tsx'
import { Live } from './live.tsx'
import { Locks } from './locks.tsx'
import { ModelChange } from './model-change.tsx'
import { Quotas } from './quotas.tsx'
import { Rights } from './rights.tsx'
import { Sessions } from './sessions.tsx'
import { text } from './texts.ts'
import './admin.css'

const PARTS = [
  { part: 'live', View: Live },
  { part: 'sessions', View: Sessions },
  { part: 'entitySets', View: EntitySets },
  { part: 'locks', View: Locks },
  { part: 'jobs', View: Jobs },
  { part: 'quotas', View: Quotas },
  { part: 'rights', View: Rights },
  { part: 'modelChange', View: ModelChange },
  { part: 'figures', View: AllFigures },
] as const

/** The state of the server, for users with the privilege `WebAdmin`. */
export function AdminPage() {
  const { path, query } = place.value
  const currentPart = PARTS.find(({ part }) => part === query.part) ?? PARTS[0]
  if (user.value === undefined) return null
  if (!isAdministrator.value) {
    return (
      <>
        <h1>{text('title')}</h1>
        <p class="hint">{text('administratorsOnly')}</p>
      </>
    )
  }
  return (
    <div class="admin">
      <h1>{text('title')}</h1>
      <nav class="tabs" aria-label={text('title')}>
        {PARTS.map(each => (
          <a
            key={each.part}
            href={linkTo(path, { part: each === PARTS[0] ? undefined : each.part })}
            aria-current={each === currentPart ? 'page' : undefined}
          >
            {text(each.part)}
          </a>
        ))}
      </nav>
      <currentPart.View key={currentPart.part} />
    </div>
  )
}
