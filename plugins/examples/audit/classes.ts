import { type BaseEntity, ds, Entity, event, Session } from 'tesser/classes'

// biome-ignore lint/suspicious/noExplicitAny: the type that TypeScript requires of a mixin's base class
type EntityClass = new (...args: any[]) => BaseEntity<any>

/** An entity class whose creations, changes and drops are recorded, for all callers. */
function audited<C extends EntityClass>(Base: C) {
  return class extends Base {
    #action = ''
    #changes = {}

    /** The last event before the save, when all other code has assigned its values. */
    @event('saving') remember(): void {
      this.#action = this.isNew() ? 'create' : 'update'
      // Without private attributes and binary values, since clients read the trail.
      const shown = this.toObject()
      const touched = this.touchedAttributes().filter(name => name in shown)
      this.#changes = Object.fromEntries(touched.map(name => [name, shown[name]]))
    }

    @event('afterSave') saved({ saveStatus }: { saveStatus: string }): void {
      if (saveStatus === 'success') record(this, this.#action, this.#changes)
    }

    @event('dropping') keep(): void {
      this.#changes = this.toObject()
    }

    @event('afterDrop') dropped({ dropStatus }: { dropStatus: string }): void {
      if (dropStatus === 'success') record(this, 'drop', this.#changes)
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: an entity of any dataclass
function record(entity: BaseEntity<any>, action: string, changes: object): void {
  const entry = ds.AuditEntry.new({
    dataClass: entity.getDataClass().getInfo().name,
    entityKey: String(entity.getKey()),
    action,
    userName: Session.userName,
    at: new Date(),
    changes,
  })
  const status = entry.save()
  if (!status.success) throw new Error(`the audit trail has a gap: ${JSON.stringify(status)}`)
}

export class MovieEntity extends audited(Entity('Movie')) {}
export class DirectorEntity extends audited(Entity('Director')) {}

export class AuditEntryEntity extends Entity('AuditEntry') {
  @event('validateDrop') refuse() {
    return { errCode: 4101, message: 'the audit trail is not to be dropped', seriousError: true }
  }
}
