/** Entities hidden by restrict events: for calculated attributes, for code that promotes itself, and for events. */
import t from 'tap'
import { calculated, DataClass, ds, Entity, event, Session } from '../../../../../engine/author/data-api/classes.ts'
import { TaskSession } from '../../../../../engine/author/data-api/session.ts'
import { openHookedWorld } from './world.ts'

// biome-ignore lint/suspicious/noExplicitAny: entities without a model
type Loose = any

class Company extends DataClass('Company') {
  @event('restrict') some() {
    return Session.hasPrivilege('all') ? undefined : this.query('ID = 1')
  }
}
class EmployeeEntity extends Entity('Employee') {
  @calculated({ type: 'string' }) get visibleEmployer() {
    return this.employer?.name ?? null
  }
  @calculated({ type: 'string', unrestricted: true }) get realEmployer() {
    return this.employer?.name ?? null
  }
  @calculated({ type: 'string' }) get promotedEmployer() {
    const promotion = Session.promote('all')
    const name = this.employer?.name ?? null
    Session.demote(promotion)
    return name
  }
}

const world = await openHookedWorld(t, [Company, EmployeeEntity])
const session = () =>
  new TaskSession(
    {
      id: 'a',
      userName: 'ada',
      granted: { privileges: [], roles: [] },
      privileges: [],
      storage: {},
      expires: 0,
      idleMinutes: 60,
      entitySets: {},
      isOfToken: false,
      guestStorageBytes: 1_000,
      client: {},
    } as Loose,
    { hasToken: () => false, countSets: () => 0, expand: ({ privileges }) => privileges },
  )
const asAda = <T>(work: () => T): T => world.codeSession.scope.run({ session: session(), access: undefined }, work)
const found = (query: string, ...values: string[]): number[] =>
  [...ds.Employee!.query(query, ...values)].map((each: Loose) => each.ID).sort()

t.test('a calculated attribute sees what its caller sees', async t => {
  asAda(() => {
    const [shown, hidden] = [ds.Employee!.get(1), ds.Employee!.get(3)] as Loose[]
    t.equal(shown.visibleEmployer, 'Acme')
    t.equal(hidden.visibleEmployer, null)
    t.same(found('visibleEmployer = :1', 'Éclair'), [])
  })
})

t.test('an unrestricted one has the same value for every caller, in filters, orders and aggregates too', async t => {
  const ask = () => ({
    value: (ds.Employee!.get(3) as Loose).realEmployer,
    found: found('realEmployer = :1', 'Éclair'),
    first: (ds.Employee!.query('realEmployer != null order by realEmployer desc').first() as Loose).ID,
    distinct: ds.Employee!.all().distinct('realEmployer'),
  })
  const all = world.codeSession.scope.run({ isUnrestricted: true }, ask)
  t.match(all, { value: 'Éclair', found: [3, 4] })
  t.same(asAda(ask), all)
  asAda(() => t.equal(ds.Company!.all().length, 1, 'nothing else is seen'))
})

t.test('promotions apply from then on, also to what has been read before', async t => {
  asAda(() => {
    t.equal(ds.Company!.all().length, 1)
    const promotion = Session.promote('all')
    t.equal(ds.Company!.all().length, 4)
    Session.demote(promotion)
    t.equal(ds.Company!.all().length, 1)
    Session.setPrivileges('all')
    t.equal(ds.Company!.all().length, 4)
    Session.clearPrivileges()
    t.equal(ds.Company!.all().length, 1)
  })
})

t.test('a getter may promote itself', async t => {
  asAda(() => {
    t.equal((ds.Employee!.get(3) as Loose).promotedEmployer, 'Éclair')
    t.same(found('promotedEmployer = :1', 'Éclair'), [3, 4])
    t.equal(ds.Company!.all().length, 1)
  })
})

t.test('events see everything, so that a rule does not depend on who saves', async t => {
  const seen: number[] = []
  const look = (): undefined => void seen.push(ds.Company!.all().length)
  class RuledEntity extends Entity('Employee') {
    @calculated({ type: 'long', stored: true }) get companies() {
      return ds.Company!.all().length
    }
    @event('validateSave') check() {
      return look()
    }
    @event('touched', 'salary') salaryTouched() {
      return look()
    }
    @event('afterSave') saved() {
      return look()
    }
    @event('validateDrop') dropped() {
      return look()
    }
  }
  const { codeSession } = await openHookedWorld(t, [Company, RuledEntity])
  codeSession.scope.run({ session: session(), access: undefined }, () => {
    const entity = ds.Employee!.get(5) as Loose
    entity.salary = 5
    t.match(entity.save(), { success: true })
    t.equal(entity.companies, 4)
    t.match(entity.drop(), { success: true })
    t.same(seen, [4, 4, 4, 4])
    t.equal(ds.Company!.all().length, 1)
  })
})
