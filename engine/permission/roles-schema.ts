import { type Static, Type } from '@sinclair/typebox'

/**
 * Schema of `roles.json`: permissions, with the names that 4D uses.
 * Source: protocol notes, 8.4.
 */

/** A name without commas, which separate names in lists. */
const NAME = Type.String({ pattern: '^[^,]{1,100}$', examples: ['viewStaff'] })
const NAMES = Type.Array(NAME)
const closedObject = { additionalProperties: false }
const list = (description: string) => Type.Optional(Type.Array(NAME, { description }))

/** Actions that can be allowed on each type of resource. */
export const ACTIONS_OF_TYPE = {
  datastore: ['create', 'read', 'update', 'drop', 'execute', 'promote'],
  dataclass: ['create', 'read', 'update', 'drop', 'execute', 'promote'],
  attribute: ['create', 'read', 'update', 'drop'],
  method: ['execute', 'promote'],
  singleton: ['execute', 'promote'],
  singletonMethod: ['execute', 'promote'],
} as const

export type ResourceType = keyof typeof ACTIONS_OF_TYPE
export type Action = (typeof ACTIONS_OF_TYPE)['datastore'][number]

export const PRIVILEGE = Type.Object({ privilege: NAME, includes: Type.Optional(NAMES) }, closedObject)
export const ROLE = Type.Object({ role: NAME, privileges: Type.Optional(NAMES) }, closedObject)

export const PERMISSION = Type.Object(
  {
    applyTo: Type.String({
      minLength: 1,
      description:
        '`ds`, `Class`, `Class.attribute`, `Class.function`, `ds.function`, `Singleton` or `Singleton.function`.',
    }),
    type: Type.Unsafe<ResourceType>({
      type: 'string',
      enum: Object.keys(ACTIONS_OF_TYPE),
      description: 'Type of the resource that `applyTo` names.',
    }),
    create: list('Privileges, one of which is needed to create; for an attribute: to give it a value on creation.'),
    read: list('Privileges of which one is needed to read.'),
    update: list('Privileges of which one is needed to change.'),
    drop: list('Privileges of which one is needed to delete; of an attribute: entities that have a value in it.'),
    execute: list('Privileges of which one is needed to call functions.'),
    promote: list('Privileges that a function has while it runs, besides those of its caller.'),
  },
  closedObject,
)

export const ROLES_SCHEMA = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    privileges: Type.Optional(
      Type.Array(PRIVILEGE, {
        description:
          'Every privilege, with the privileges that it includes. `guest`, which every caller has, and `WebAdmin` need no declaration.',
      }),
    ),
    roles: Type.Optional(
      Type.Array(ROLE, {
        description: 'Names for sets of privileges.',
      }),
    ),
    permissions: Type.Optional(
      Type.Object(
        { allowed: Type.Optional(Type.Array(PERMISSION)) },
        { ...closedObject, description: 'Permissions by resource.' },
      ),
    ),
    restrictedByDefault: Type.Optional(
      Type.Boolean({ description: 'True: actions that no permission allows are denied. False: they are allowed.' }),
    ),
    forceLogin: Type.Optional(
      Type.Boolean({ description: 'Clients without privileges may only read the catalog and log in.' }),
    ),
  },
  closedObject,
)

/** Content of the file. */
export type RolesDocument = Static<typeof ROLES_SCHEMA>
export type Permission = Static<typeof PERMISSION>
