import { DataStore, ds, Entity, exposed, onHTTPGet, Session } from 'tesser/classes'

/** Session functions. */
export class Visits extends DataStore {
  @onHTTPGet me() {
    const { id, userName, expirationDate, idleTimeout } = Session
    return { id, userName, expirationDate, idleTimeout, guest: Session.isGuest(), privileges: Session.getPrivileges() }
  }
  @exposed grant(rights: Parameters<typeof Session.setPrivileges>[0]) {
    return [Session.setPrivileges(rights), Session.isGuest(), Session.hasPrivilege('hr')]
  }
  /** Does everything that a login can do to a session, rights last. */
  @exposed arrive(userName: string) {
    Session.storage.arrived = userName
    Session.idleTimeout = 120
    Session.quotas.nbEntitySets = 1
    const token = Session.createOTP()
    Session.setPrivileges({ privileges: 'hr', userName })
    return token
  }
  /** Works for a while, and stores something at the end. */
  @exposed linger(milliseconds: number) {
    const end = Date.now() + milliseconds
    while (Date.now() < end);
    Session.storage.late = true
    return ds.Employee!.get(1)!.lock()
  }
  @exposed clear() {
    return [Session.clearPrivileges(), Session.isGuest()]
  }
  @exposed promote() {
    const id = Session.promote('boss')
    const during = Session.hasPrivilege('boss')
    const listed = Session.getPrivileges().includes('boss')
    Session.demote(id)
    return [during, listed, Session.hasPrivilege('boss')]
  }
  @exposed keep(name: string, value: unknown) {
    Session.storage[name] = value
  }
  @exposed forget(name: string) {
    delete Session.storage[name]
  }
  @exposed keepAndFail() {
    Session.storage.failed = true
    throw { errCode: 12, componentSignature: 'test', message: 'as planned' }
  }
  @onHTTPGet kept() {
    return { ...Session.storage }
  }
  @exposed wait(minutes: number) {
    Session.idleTimeout = minutes
  }
  @exposed token(seconds?: number) {
    return Session.createOTP(seconds)
  }
  @exposed restore(token: string) {
    return Session.restore(token)
  }
  @exposed search() {
    return ds.Employee!.query('notes = nothing').length
  }
  @exposed quotas(count?: number, timeout?: number, most?: number) {
    Session.quotas.nbEntitySets = count
    Session.quotas.defaultEntitySetTimeout = timeout
    Session.quotas.maxEntitySetTimeout = most
    return Session.quotas.currentValues
  }
}

export class EmployeeEntity extends Entity('Employee') {
  @exposed take() {
    return this.lock()
  }
  @exposed leave() {
    return this.unlock()
  }
  @exposed raise() {
    this.salary += 1
    return this.save()
  }
  @exposed dismiss() {
    return this.drop()
  }
}
