import { isLongNumber } from '../../base/exact-json.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import { defineErrors, errorsWith } from '../../base/errors.ts'

const STALE = { status: 2, statusText: 'Stamp has changed' }
const GONE = { status: 5, statusText: 'Entity does not exist anymore' }
const LOCKED = { status: 3, statusText: 'Already Locked' }

/** Errors of entities that cannot be saved or deleted. Source: base specification, 7; protocol notes, 5.9 and 5.10. */
export const WriteErrors = defineErrors('WRITE', {
  ...errorsWith({ errCode: 1806, http: 400 })({
    NOT_ENTITIES: (received: string) =>
      `the body is ${received}; an entity (an object), an array of entities or {"__ENTITIES":[…]} is expected`,
    NOT_AN_ENTITY: (received: string) =>
      `${received} is not an entity; an object of attribute names and values is expected`,
  }),
  ...errorsWith({ errCode: 1806, http: 413 })({
    TOO_MANY_ENTITIES: (maximum: number) =>
      `the body has more than ${maximum} entities (write.maxEntities); send them in several requests`,
    TOO_MANY_AT_ONCE: (what: string, maximum: number) =>
      `${what} is one transaction, of at most ${maximum} entities (write.maxTransactionEntities); send fewer at a time`,
    TOO_MANY_NAMES_AT_ONCE: (what: string, maximum: number) =>
      `${what} is one transaction, of at most ${maximum} names in its body (write.maxTransactionNames); send fewer entities at a time`,
    ENTITY_TOO_LARGE: (maximum: number) =>
      `the JSON of an entity has more than ${maximum} bytes (write.maxEntityBytes); upload images and blobs with $upload`,
    TOO_MANY_ATTRIBUTES: (maximum: number) =>
      `an entity of the body has more than ${maximum} names (write.maxAttributes)`,
    TOO_MANY_NAMES: (maximum: number) =>
      `an entity of the body has more than ${maximum} names, those within its objects included (write.maxNames)`,
  }),
  ...errorsWith({ errCode: 1200, http: 422 })({
    /** Replaces the problems of an entity that are not described. */
    MORE_PROBLEMS: (more: number) => `and ${more} more problems of this entity`,
  }),
  ...errorsWith({ errCode: 1543, http: 404, save: GONE })({
    ENTITY_NOT_FOUND: (key: string, dataClass: string) =>
      `cannot load entity ${key} of ${dataClass}: none has this key; leave __KEY and __STAMP out to create one`,
  }),
  ...errorsWith({ errCode: 1263, http: 409, save: STALE })({
    /** Another save was committed between the read and this save. RECORD_NOT_SAVED and ENTITY_NOT_SAVED follow. */
    STALE_STAMP: (key: string, dataClass: string, sent: string, current: number) =>
      `entity ${key} of ${dataClass} has __STAMP ${current}, the request sent ${sent}; read it again and repeat the change`,
  }),
  ...errorsWith({ errCode: 1263, http: 412, save: STALE })({
    /** The entity does not have the version that `If-Match` names. The same errors as after STALE_STAMP follow. */
    OTHER_VERSION: (key: string, dataClass: string, current: number) =>
      `entity ${key} of ${dataClass} has __STAMP ${current}, which is not the version of If-Match; read it again and repeat the change`,
  }),
  ...errorsWith({ errCode: 1263, http: 412 })({
    /** `If-Match` was sent for an entity that does not exist yet. */
    NO_VERSION: (dataClass: string) =>
      `If-Match names a version, and no entity of ${dataClass} is named that exists; leave it out to create one`,
  }),
  ...errorsWith({ errCode: 1066, http: 409, save: LOCKED })({
    LOCKED: (key: string, dataClass: string) =>
      `entity ${key} of ${dataClass} is locked by another session; it can be changed when that session unlocks it or ends`,
  }),
  ...errorsWith({ errCode: 1200, http: 429 })({
    TOO_MANY_LOCKS: () => 'this session has locked too many entities; unlock some before you lock others',
  }),
  ...errorsWith({ errCode: 1046, http: 409 })({
    RECORD_NOT_SAVED: (key: string, dataClass: string) =>
      `cannot save the record of entity ${key} in table ${dataClass}`,
  }),
  ...errorsWith({ errCode: 1517, http: 422 })({
    ENTITY_NOT_SAVED: (key: string, dataClass: string) => `entity ${key} of ${dataClass} cannot be saved`,
  }),
  ...errorsWith({ errCode: 1534, http: 422 })({
    NEW_ENTITY_NOT_SAVED: (dataClass: string) => `the new entity of ${dataClass} cannot be saved`,
  }),
  ...errorsWith({ errCode: 1500, http: 404, namesAttribute: 0 })({
    /** Also for private attributes: unexposed attributes are treated as missing. */
    UNKNOWN_ATTRIBUTE: (name: string, dataClass: string, hint: string) =>
      `no attribute "${name}" in ${dataClass}${hint}`,
  }),
  ...errorsWith({ errCode: 1508, http: 422, namesAttribute: 0 })({
    WRONG_TYPE: (attribute: string, received: string, expected: string) =>
      `${attribute} cannot be ${received}; ${expected} is expected`,
  }),
  ...errorsWith({ errCode: 1516, http: 422, namesAttribute: 0 })({
    NOT_MODIFIABLE: (attribute: string, reason: string) => `the value of ${attribute} cannot be modified: ${reason}`,
  }),
  ...errorsWith({ errCode: 1562, http: 500 })({
    /** Code of an event saves or drops its own entity. */
    IN_EVENT: (action: string, dataClass: string, chain?: string) =>
      `an entity of ${dataClass} cannot be ${action === 'save' ? 'saved' : 'dropped'} by code of its own events` +
      (chain === undefined ? '' : `: ${chain}`),
    /** The log has the details. */
    EVENT_FAILED: (dataClass: string, what: string) =>
      `code that belongs to ${dataClass} failed with ${what}; the log of the server tells more`,
  }),
  ...errorsWith({ errCode: 1121, http: 409 })({
    /** Something changed during each attempt of a deletion, or of a save in a database. */
    CHANGED_MEANWHILE: (dataClass: string, attempts: number) =>
      `others changed what events of ${dataClass} had read, or what was to be deleted, ${attempts} times meanwhile; try again`,
  }),
  ...errorsWith({ errCode: 1116, http: 422, namesAttribute: 0 })({
    MANDATORY: (attribute: string) => `${attribute} is mandatory and cannot be null`,
  }),
  ...errorsWith({ errCode: 1568, http: 422, namesAttribute: 0 })({
    BELOW_MINIMUM: (attribute: string, value: string, minimum: number) =>
      `${attribute} is ${value}; at least ${minimum} is expected`,
  }),
  ...errorsWith({ errCode: 1569, http: 422, namesAttribute: 0 })({
    ABOVE_MAXIMUM: (attribute: string, value: string, maximum: number) =>
      `${attribute} is ${value}; at most ${maximum} is expected`,
  }),
  ...errorsWith({ errCode: 1591, http: 422, namesAttribute: 0 })({
    TOO_SHORT: (attribute: string, length: number, minimum: number) =>
      `${attribute} has ${length} characters; at least ${minimum} are expected`,
  }),
  ...errorsWith({ errCode: 1592, http: 422, namesAttribute: 0 })({
    TOO_LONG: (attribute: string, length: number, maximum: number) =>
      `${attribute} has ${length} characters; at most ${maximum} are expected`,
  }),
  ...errorsWith({ errCode: 1570, http: 422 })({
    /** An attribute that the caller may not read violates the model. */
    HIDDEN: (dataClass: string) => `a hidden value of ${dataClass} violates the model`,
  }),
  ...errorsWith({ errCode: 1571, http: 422, namesAttribute: 0 })({
    PATTERN: (attribute: string, value: string, pattern: string) =>
      `${attribute} is ${value}, which does not match ${pattern}`,
    NOT_A_CHOICE: (attribute: string, value: string, choices: string) =>
      `${attribute} is ${value}; one of ${choices} is expected`,
  }),
  ...errorsWith({ errCode: 1115, http: 409, namesAttribute: 0 })({
    DUPLICATE: (attribute: string, value: string) => `another entity has ${value} as ${attribute}, which is unique`,
    DUPLICATE_TOGETHER: (_: string, values: string) => `another entity has ${values}, which are unique together`,
  }),
  ...errorsWith({ errCode: 1545, http: 409 })({
    /** Follows DUPLICATE if the duplicate value is the primary key. */
    KEY_EXISTS: (key: string, dataClass: string) =>
      `an entity of ${dataClass} with the key ${key} exists; send its __KEY and __STAMP to change it`,
  }),
  ...errorsWith({ errCode: 1546, http: 422, namesAttribute: 0 })({
    KEY_MISSING: (attribute: string) => `the new entity has no key; give ${attribute} a value`,
    AUTO_INCREMENT_EXHAUSTED: (attribute: string, next: number) =>
      `${attribute} cannot be numbered automatically: the next number, ${next}, is beyond its type; give it a value`,
  }),
  ...errorsWith({ errCode: 1542, http: 409, namesAttribute: 0 })({
    RELATED_ENTITY_NOT_FOUND: (relation: string, key: string, target: string) =>
      `${relation} cannot be ${key}: no entity of ${target} has this key`,
  }),
  ...errorsWith({ errCode: 1155, http: 409, namesAttribute: 0 })({
    /** @param target undefined for a dataclass that the caller may not know of */
    FOREIGN_KEY_NOT_FOUND: (attribute: string, key: string, target: string | undefined) =>
      `${attribute} cannot be ${key}: no entity${target === undefined ? '' : ` of ${target}`} has this key`,
  }),
  ...errorsWith({ errCode: 1536, http: 422, namesAttribute: 0 })({
    RELATION_CONFLICT: (relation: string, key: string, attribute: string, value: string) =>
      `${relation} is set to ${key} and its foreign key ${attribute} to ${value}; send one of them`,
  }),
  ...errorsWith({ errCode: 1825, http: 422, namesAttribute: 0 })({
    MISSING_PICTURE: (attribute: string, id: string) =>
      `${attribute} refers to the upload ${id}, which is unknown or has expired`,
  }),
  ...errorsWith({ errCode: 1826, http: 422, namesAttribute: 0 })({
    MISSING_BLOB: (attribute: string, id: string) =>
      `${attribute} refers to the upload ${id}, which is unknown or has expired`,
  }),
  ...errorsWith({ errCode: 1824, http: 422, namesAttribute: 0 })({
    NOT_A_PICTURE: (attribute: string, mediaType: string) =>
      `${attribute} is an image, but the upload is of type ${mediaType}; send PNG, JPEG, GIF, TIFF, WebP or SVG for example`,
  }),
  ...errorsWith({ errCode: 1120, http: 409 })({
    STILL_REFERENCED: (key: string, dataClass: string, relation: string) =>
      `entity ${key} of ${dataClass} is still referenced by ${relation}`,
  }),
  ...errorsWith({ errCode: 1120, http: 413 })({
    /** Limit of a cascade, which is one transaction. */
    CASCADE_TOO_LARGE: (key: string, dataClass: string, maximum: number) =>
      `deleting entity ${key} of ${dataClass} would delete or change more than ${maximum} others at once (write.maxTransactionEntities); delete those first`,
  }),
  ...errorsWith({ errCode: 1518, http: 409 })({
    ENTITY_NOT_DELETED: (key: string, dataClass: string) => `entity ${key} of ${dataClass} cannot be deleted`,
  }),
})

/** Received value, shortened for a message. */
export function describe(json: unknown): string {
  if (Array.isArray(json)) return 'an array'
  if (isLongNumber(json)) return excerpt(String(json))
  if (typeof json === 'object' && json !== null) return 'an object'
  if (typeof json === 'string') return JSON.stringify(json.length > 60 ? `${json.slice(0, 60)}…` : json)
  return String(json)
}
