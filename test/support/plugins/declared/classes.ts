import {
  type EntityOf,
  type BaseSelection,
  DataClass,
  DataStore,
  ds,
  Entity,
  EntitySelection,
  entityOf,
  exposed,
  onHTTPGet,
  selectionOf,
  Singleton,
  Type,
} from 'tesser/classes'

const Period = Type.Object(
  {
    from: Type.String({ format: 'date' }),
    days: Type.Optional(Type.Integer({ minimum: 1 })),
    kinds: Type.Optional(Type.Array(Type.Union([Type.Literal('work'), Type.Literal('leave')]), { maxItems: 3 })),
    hours: Type.Optional(Type.Tuple([Type.Number(), Type.Number()])),
  },
  { title: 'period', additionalProperties: false },
)

export class Employee extends DataClass('Employee') {
  @onHTTPGet({
    description: 'Employees who earn at least so much, by name.',
    parameters: Type.Tuple([
      Type.Number({ title: 'minimum', minimum: 0 }),
      Type.Optional(Type.Integer({ title: 'count', minimum: 1, maximum: 100 })),
      Type.Optional(Type.Union([Type.Literal('up'), Type.Literal('down')], { title: 'direction' })),
    ]),
    result: selectionOf('Employee'),
  })
  earning(minimum: number, count = 2, direction: 'up' | 'down' = 'up') {
    const found = this.query(`salary >= :1 order by lastName ${direction === 'up' ? 'asc' : 'desc'}`, minimum)
    return found.slice(0, count)
  }
  @exposed({ parameters: Type.Tuple([Period]), result: Type.String() }) plan(period: { from: string; days?: number }) {
    return `${period.from} ${period.days ?? 'open'}`
  }
  @exposed({ parameters: Type.Tuple([Type.String({ title: 'code', pattern: '^(a+)+$', maxLength: 100_000 })]) })
  code(code: string) {
    return code.length
  }
  @exposed({ parameters: Type.Tuple([]) }) none() {
    return 'none'
  }
  @exposed({
    parameters: Type.Tuple([entityOf('Company', { title: 'company' })]),
    result: Type.Union([Type.String(), Type.Null()]),
  })
  nameOf(company: EntityOf<'Company'>) {
    return company.name as string | null
  }
  @exposed({
    parameters: Type.Tuple([
      selectionOf('Employee', { title: 'people' }),
      Type.Optional(Type.Union([selectionOf('Company'), Type.Null()], { title: 'companies' })),
    ]),
    result: Type.Integer(),
  })
  sizes(people: BaseSelection<'Employee'>, companies: BaseSelection<'Company'> | null = null) {
    return people.length + 100 * (companies?.length ?? 0)
  }
}

export class EmployeeEntity extends Entity('Employee') {
  @exposed({ parameters: Type.Tuple([Type.Number({ title: 'percent', exclusiveMinimum: 0 })]), result: Type.Number() })
  raised(percent: number) {
    return this.salary * (1 + percent / 100)
  }
}

export class EmployeeSelection extends EntitySelection('Employee') {
  @onHTTPGet({ parameters: Type.Tuple([Type.String({ title: 'separator', maxLength: 3 })]), result: Type.String() })
  joined(separator: string) {
    return this.extract('lastName').join(separator)
  }
}

export class Store extends DataStore {
  @onHTTPGet({
    parameters: Type.Tuple([Type.Union([Type.Integer(), Type.String({ minLength: 1 })], { title: 'key' })]),
    result: Type.Union([entityOf('Company'), Type.Null()]),
  })
  company(key: number | string) {
    return ds.Company!.get(key)
  }
}

export class Register extends Singleton {
  @exposed({
    parameters: Type.Tuple([Type.Record(Type.String(), Type.Boolean(), { title: 'flags' })]),
    result: Type.Array(Type.String()),
  })
  set(flags: Record<string, boolean>) {
    return Object.keys(flags)
  }
}
