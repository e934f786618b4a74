/** Rows of SQLite and of PostgreSQL as the protocol sends them, written by hand for two tables. */

export interface EmployeeRow {
  ID: number
  firstName: string
  lastName: string
  salary: number
  birthDate: string
  hired: string
  /** A number in SQLite, a boolean in PostgreSQL. */
  woman: boolean | number | null
  department: string
  email: string
  notes: string
  employerID: number | null
  stamp: number
  timestamp: string
}

export interface CompanyRow {
  companyID: number
  name: string
  city: string
  country: string
  sector: string
  revenues: number
  founded: string
  active: boolean | number | null
  phone: string
  website: string
  companyStamp: number
  companyTimestamp: string
}

const bool = (value: boolean | number | null): boolean | null => (value === null ? null : Boolean(value))

export const employeeEntity = (row: EmployeeRow) => ({
  __KEY: String(row.ID),
  __TIMESTAMP: row.timestamp,
  __STAMP: row.stamp,
  ID: row.ID,
  firstName: row.firstName,
  lastName: row.lastName,
  salary: row.salary,
  birthDate: row.birthDate,
  hired: row.hired,
  woman: bool(row.woman),
  department: row.department,
  email: row.email,
  notes: row.notes,
  employerID: row.employerID,
  employer:
    row.employerID === null
      ? null
      : { __deferred: { uri: `/rest/Company(${row.employerID})`, __KEY: String(row.employerID) } },
})

export const expandedEntity = (row: EmployeeRow & CompanyRow) => ({
  ...employeeEntity(row),
  employer: {
    __KEY: String(row.companyID),
    __TIMESTAMP: row.companyTimestamp,
    __STAMP: row.companyStamp,
    ID: row.companyID,
    name: row.name,
    city: row.city,
    country: row.country,
    sector: row.sector,
    revenues: row.revenues,
    founded: row.founded,
    active: bool(row.active),
    phone: row.phone,
    website: row.website,
    staff: { __deferred: { uri: `/rest/Company(${row.companyID})/staff?$expand=staff` } },
  },
})

export const savedEntity = (row: EmployeeRow) => ({ ...employeeEntity(row), uri: `/rest/Employee(${row.ID})` })
