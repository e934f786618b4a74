import { company } from '../support/fixtures/company.ts'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { hookedPlugin } from '../support/plugins/test-plugins.ts'

const update = '/Employee?$method=update'
const kurt = (values: object) => ({ __KEY: '2', __STAMP: 1, ...values })

/** Nothing is saved, so that all cases find the same entity. */
const stopped: ProtocolCase[] = [
  {
    spec: 'P9',
    name: 'a mild error stops the save with status 7',
    post: update,
    body: kurt({ lastName: 'mild' }),
    status: 422,
    has: {
      __KEY: '2',
      __STAMP: 1,
      lastName: 'Gödel',
      __STATUS: { status: 7, statusText: 'Mild Validation Error', success: false },
      __ERROR: [
        {
          message: 'rather not',
          componentSignature: 'DBEV',
          errCode: 7001,
          extraDescription: { field: 'lastName' },
        },
      ],
    },
    errors: [7001],
  },
  {
    spec: 'P9',
    name: 'a serious error stops it with status 8, followed by 1517',
    post: update,
    body: kurt({ lastName: 'serious' }),
    status: 422,
    has: {
      lastName: 'Gödel',
      __STATUS: { status: 8, statusText: 'Serious Validation Error', success: false },
      // It names an attribute that the client may not read.
      __ERROR: [{ errCode: 7002, attribute: undefined }, {}],
    },
    errors: [7002, 1517],
  },
  {
    spec: 'P9',
    name: 'of a new entity, followed by 1534',
    post: update,
    body: { lastName: 'serious' },
    status: 422,
    has: { __STATUS: { status: 8 } },
    errors: [7002, 1534],
  },
  {
    spec: 'P9',
    name: 'an error while saving has another status',
    post: update,
    body: kurt({ lastName: 'stopped' }),
    status: 422,
    has: {
      __STATUS: { status: 4, statusText: 'Other error', success: false },
      // From the code of this attribute.
      __ERROR: [{ errCode: 7003, attribute: 'lastName' }, { attribute: undefined }],
    },
    errors: [7003, 1517],
  },
  {
    spec: 'P9',
    name: 'an error of an event precedes that of the stamp',
    post: update,
    body: { ...kurt({ lastName: 'mild' }), __STAMP: 9 },
    status: 422,
    errors: [7001],
  },
  {
    spec: '7',
    name: 'a stale stamp is reported as without events',
    post: update,
    body: { ...kurt({ lastName: 'X' }), __STAMP: 9 },
    status: 409,
    has: { __STATUS: { status: 2 } },
    errors: [1263, 1046, 1517],
  },
  {
    spec: 'P5.5',
    name: 'in an atomic save, one that is stopped stops the others, which are shown as they would be',
    post: `${update}&$atomic=true`,
    body: [kurt({ lastName: 'mild' }), { __KEY: '4', __STAMP: 1, lastName: 'Saved' }],
    status: 422,
    has: {
      __ENTITIES: [
        { __STAMP: 1, __STATUS: { status: 7 }, fullName: 'Kurt Gödel' },
        { __STAMP: 1, lastName: 'Saved', initials: 'GS', fullName: 'Grace Saved' },
      ],
    },
  },
  {
    spec: 'P5.6',
    name: 'validate runs the events',
    post: '/Employee?$method=validate',
    body: kurt({ lastName: 'serious' }),
    status: 422,
    has: { __ENTITIES: [{ __ERROR: [{ errCode: 7002 }, { errCode: 1517 }] }] },
  },
  {
    spec: 'P5.7',
    name: 'refresh shows the entity as the events leave it',
    post: `${update}&$refresh=true`,
    body: kurt({ notes: 'trace', lastName: 'Zorn' }),
    has: { __STAMP: 1, notes: 'trace validateSave saving:lastName saving', initials: 'KZ', fullName: 'Kurt Zorn' },
  },
  {
    spec: 'P9',
    name: 'a thrown error with a code stops the save, as a serious error',
    post: update,
    body: kurt({ lastName: 'refused' }),
    status: 422,
    has: { __STATUS: { status: 8 }, __ERROR: [{ message: 'not this name', componentSignature: 'DBEV' }, {}] },
    errors: [7004, 1517],
  },
  {
    spec: 'D2',
    name: 'code that fails is a fault of the server, without its secrets',
    post: update,
    body: kurt({ lastName: 'throws' }),
    status: 500,
    has: { __ERROR: [{ message: /^code that belongs to Employee failed with TypeError; / }] },
    errors: [1562, 1517],
  },
  {
    spec: 'D6',
    name: 'code that loops is stopped',
    post: update,
    body: kurt({ lastName: 'loops' }),
    status: 503,
    has: { __ERROR: [{ message: /^code of the events of Employee was stopped: it exceeded its deadline of 3 s/ }] },
    errors: [1562],
  },
  {
    spec: 'D6',
    name: 'code that ends its thread ends nothing else',
    post: update,
    body: kurt({ lastName: 'exits' }),
    status: 500,
    errors: [1562],
  },
  {
    spec: 'P3.8',
    name: 'a calculated attribute without set handler cannot be set',
    post: update,
    body: kurt({ monthly: 5 }),
    status: 422,
    errors: [1516, 1517],
  },
  {
    spec: 'P3.8',
    name: 'nor can a stored one',
    post: update,
    body: kurt({ initials: 'XX' }),
    status: 422,
    errors: [1516, 1517],
  },
  {
    spec: '4.4',
    name: 'a whole entity with its calculated values can be sent back',
    post: update,
    body: kurt({ fullName: 'Kurt Gödel', monthly: 3750, initials: 'KG', anniversary: '2032-06-15' }),
    has: { __STAMP: 1 },
  },
  {
    spec: 'P5.9',
    name: 'a calculated attribute that is not exposed is unknown',
    post: update,
    body: kurt({ internal: 'x' }),
    status: 404,
    errors: [1500, 1517],
  },
  { spec: 'P9', name: 'after all this nothing has changed', get: '/Employee(2)', has: { __STAMP: 1 } },
]

const saved: ProtocolCase[] = [
  {
    spec: 'P9',
    name: 'the events of an update run in their order',
    post: update,
    body: kurt({ notes: 'trace', lastName: 'log', salary: 5 }),
    has: {
      __STAMP: 2,
      salary: 5,
      notes: 'trace touched:salary validateSave:salary validateSave saving:lastName saving',
    },
  },
  {
    spec: 'P9',
    name: 'events of an attribute run only when it is touched',
    post: update,
    body: { __KEY: '1', __STAMP: 1, notes: 'trace' },
    has: { notes: 'trace validateSave saving' },
  },
  {
    spec: 'P9',
    name: 'a new entity is constructed first',
    post: update,
    body: { ID: 50, lastName: 'New' },
    has: { notes: 'trace constructor validateSave saving:lastName saving', initials: 'N', fullName: 'null New' },
  },
  {
    spec: 'P9',
    name: 'afterSave runs after the save',
    get: '/City(success%20log)',
    has: { name: 'success log' },
  },
  {
    spec: 'P9',
    name: 'and when the save has failed',
    post: update,
    body: { __KEY: '2', __STAMP: 77, lastName: 'log stale' },
    status: 409,
    errors: [1263, 1046, 1517],
  },
  { spec: 'P9', name: 'with its status', get: '/City(failed%20log%20stale)', has: { name: 'failed log stale' } },
  {
    spec: 'P5.4',
    name: 'one that is stopped leaves the others',
    post: update,
    body: [
      { __KEY: '3', __STAMP: 1, lastName: 'mild' },
      { __KEY: '4', __STAMP: 1, lastName: 'Saved' },
    ],
    status: 422,
    has: {
      __ENTITIES: [
        { __STAMP: 1, __STATUS: { status: 7 } },
        { __STAMP: 2, lastName: 'Saved' },
      ],
    },
  },
  {
    spec: 'P3.8',
    name: 'a set handler receives the sent value',
    post: update,
    body: { __KEY: '5', __STAMP: 1, fullName: 'Kurt Weill' },
    has: { fullName: 'Kurt Weill', lastName: 'Weill', initials: 'KW' },
  },
  {
    spec: '4.4',
    name: 'attributes that depend on sent ones are computed again',
    post: update,
    body: { __KEY: '5', __STAMP: 2, salary: 1200 },
    has: { monthly: 100, initials: 'KW' },
  },
  {
    spec: '4.4',
    name: 'a save whose answer cannot be computed has happened, and says so',
    post: update,
    body: { __KEY: '6', __STAMP: 1, lastName: 'Shaky' },
    has: { __STAMP: 2, lastName: 'Shaky', fullName: undefined },
  },
  {
    spec: 'P9',
    name: 'code of functions saves with the same events',
    post: '/Employee(4)/promote',
    json: { result: { success: true } },
  },
  {
    spec: 'P9',
    name: 'which leave their traces',
    get: '/Employee(4)/notes,salary',
    has: { salary: 121_000, notes: /saving touched:salary validateSave:salary validateSave saving$/ },
  },
]

const drops: ProtocolCase[] = [
  {
    spec: 'P9',
    name: 'the names that stop a drop can be saved',
    post: update,
    body: [
      { __KEY: '2', __STAMP: 1, firstName: 'mild' },
      { __KEY: '3', __STAMP: 1, firstName: 'serious' },
      { __KEY: '5', __STAMP: 1, firstName: 'stopped' },
    ],
    has: { __ENTITIES: [{ firstName: 'mild' }, { firstName: 'serious' }, { firstName: 'stopped' }] },
  },
  {
    spec: 'P9',
    name: 'a mild error of validateDrop keeps the entity',
    post: '/Employee(2)?$method=delete',
    status: 422,
    errors: [7001, 1518],
  },
  { spec: 'P9', name: 'a serious one too', delete: '/Employee(3)', status: 422, errors: [7002, 1518] },
  {
    spec: 'P9',
    name: 'and an error while dropping',
    post: '/Employee(5)?$method=delete',
    status: 422,
    errors: [7003, 1518],
  },
  {
    spec: 'P5.7',
    name: 'an atomic deletion of several then deletes none',
    post: '/Employee?$filter="ID in [5,6]"&$method=delete&$atomic=true',
    status: 422,
    errors: [7003, 1518, 1121],
  },
  { spec: 'P5.7', name: 'so that all are left', get: '/Employee', count: 6 },
  {
    spec: 'P5.7',
    name: 'a deletion that is not atomic deletes those that are not stopped',
    post: '/Employee?$filter="ID in [5,6]"&$method=delete',
    status: 422,
    errors: [7003, 1518, 1121],
  },
  { spec: 'P5.7', name: 'which is gone then', get: '/Employee(6)', status: 404, errors: [1543] },
  { spec: 'P9', name: 'afterDrop has run', get: '/City(success%20drop%206)', has: { name: 'success drop 6' } },
  { spec: 'P9', name: 'for what was stopped too', get: '/City(failed%20drop%205)', has: { name: 'failed drop 5' } },
]

const config = { plugins: [hookedPlugin], functions: { threads: 1, deadlineSeconds: 3 } }
protocolTable('events that stop saves', company, stopped, { config })
protocolTable('events of saves', company, saved, { config })
protocolTable('events of drops', company, drops, { config })
