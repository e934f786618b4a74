/** Faults of models: relations and aliases. */
import { at, company, employee, type Fault, model, onCompany, type Options, refuse } from './wrong-models.ts'

const withEmployee = (attributes: Options): Options =>
  model({ Company: company, Employee: { ...employee, attributes: { ...employee.attributes, ...attributes } } })

const atEmployee = 'dataClasses.Employee.attributes'

const cases: Fault[] = [
  {
    name: 'a relation to an unknown dataclass',
    model: withEmployee({ boss: { kind: 'relatedEntity', type: 'Employe', foreignKey: 'ID' } }),
    problem: `${atEmployee}.boss.type: there is no dataclass "Employe"; did you mean "Employee"?`,
  },
  {
    name: 'an unknown foreign key',
    model: withEmployee({ other: { kind: 'relatedEntity', type: 'Company', foreignKey: 'otherID' } }),
    problem: `${atEmployee}.other.foreignKey: there is no attribute "otherID" in Employee`,
  },
  {
    name: 'a foreign key of another type than the key',
    model: withEmployee({ other: { kind: 'relatedEntity', type: 'Company', foreignKey: 'name' } }),
    problem: `${atEmployee}.other.foreignKey: "name" has type string, but the key of Company, "ID", has type long`,
  },
  {
    name: 'one foreign key for two relations',
    model: withEmployee({ other: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID' } }),
    problem: `${atEmployee}.other.foreignKey: "employerID" already belongs to relation "employer"; each needs one of its own`,
  },
  {
    name: 'setNull of a mandatory foreign key',
    model: withEmployee({
      otherID: { type: 'long', mandatory: true },
      other: { kind: 'relatedEntity', type: 'Company', foreignKey: 'otherID', onDelete: 'setNull' },
    }),
    problem: `${atEmployee}.other.onDelete: "setNull" cannot be done while "otherID" must not be null; use "restrict" or "cascade"`,
  },
  {
    name: 'an inverse that leads elsewhere',
    model: withEmployee({
      otherID: { type: 'long' },
      other: { kind: 'relatedEntity', type: 'Company', foreignKey: 'otherID', inverseName: 'staff' },
    }),
    problem: `${atEmployee}.other.inverseName: "staff" of Company reverses "employer" of EmployeeSelection, not "other" of Employee`,
  },
  {
    name: 'a 1→N relation that reverses nothing',
    model: onCompany({ kind: 'relatedEntities', type: 'EmployeeSelection', inverseName: 'employr' }),
    problem: `${at}.inverseName: there is no attribute "employr" in Employee; did you mean "employer"?`,
  },
  {
    name: 'a 1→N relation that reverses one with another inverse',
    model: onCompany({ kind: 'relatedEntities', type: 'Employee', inverseName: 'employer' }),
    problem: `${at}.inverseName: "employer" of Employee names "staff" as its inverse, not "x"`,
  },
  {
    name: 'a 1→N relation to an unknown collection',
    model: onCompany({ kind: 'relatedEntities', type: 'Employees', inverseName: 'employer' }),
    problem: `${at}.type: there is no collection "Employees"`,
  },
  {
    name: 'an alias that leads nowhere',
    model: withEmployee({ x: { kind: 'alias', path: 'employer.nam' } }),
    problem: `${atEmployee}.x.path: there is no attribute "nam" in Company; did you mean "name"?`,
  },
  {
    name: 'an alias that continues after a value',
    model: withEmployee({ x: { kind: 'alias', path: 'employer.info.city' } }),
    problem: `${atEmployee}.x.path: "employer.info.city" continues after a storage attribute; only relations can be followed`,
  },
  {
    name: 'an alias of itself',
    model: withEmployee({ x: { kind: 'alias', path: 'x' } }),
    problem: `${atEmployee}.x.path: leads in a circle: Employee.x → Employee.x`,
  },
  {
    name: 'an alias for many values',
    model: onCompany({ kind: 'alias', path: 'staff.name' }),
    problem: `${at}.path: "staff.name" has many values for one entity; through relatedEntities an alias can only name a relation`,
  },
]
refuse(cases)
