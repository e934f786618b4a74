import { CITIES, COUNTRIES, DEPARTMENTS, FIRST_NAMES, NAME_COUNT, SECTORS, sentence, syllableName } from './names.ts'
import { random } from './random.ts'

/** Raised when the rows of a world change: worlds cached on disk are then created again. */
export const WORLD_VERSION = 1

export interface Company {
  ID: number
  name: string
  city: string
  country: string
  sector: string
  revenues: number
  /** `YYYY-MM-DD` */
  founded: string
  active: boolean
  phone: string
  website: string
}

export interface Employee {
  ID: number
  firstName: string
  lastName: string
  salary: number
  /** ISO 8601 with milliseconds. */
  birthDate: string
  /** `YYYY-MM-DD` */
  hired: string
  woman: boolean
  department: string
  email: string
  notes: string
  employerID: number
}

const DAY = 86_400_000
const MINUTE = 60_000
const FOUNDED_FROM = Date.UTC(1900, 0, 1)
const HIRED_FROM = Date.UTC(1990, 0, 1)
const BORN_FROM = Date.UTC(1950, 0, 1)
const BORN_MINUTES = (55 * 365.25 * DAY) / MINUTE

/** Numbers that distinguish the values of one row; see {@link random}. */
const FIELD = {
  firstName: 0,
  lastName: 1,
  salary: 2,
  birthDate: 3,
  hired: 4,
  woman: 5,
  department: 6,
  employer: 7,
  notes: 100,
}

/**
 * 10,000 companies and their employees, all computed from a seed. Rows are numbered from 0; a key is the number plus 1. About 50
 * employees share a last name, whatever the number of employees.
 */
export class World {
  readonly companies = 10_000
  readonly names: number

  constructor(
    readonly seed: number,
    /** Number of employees. */
    readonly employees: number,
  ) {
    this.names = Math.min(NAME_COUNT, Math.ceil(employees / 50))
  }

  /** The nth choice out of `count` things for the requests of a case, independent of the rows. */
  pick(n: number, count: number, salt = 0): number {
    return Math.floor(random(this.seed + 1, n, salt) * count)
  }

  company(row: number): Company {
    const value = (field: number): number => random(this.seed + 2, row, field)
    const word = this.companyWord(row)
    return {
      ID: row + 1,
      name: this.companyName(row),
      city: CITIES[Math.floor(value(0) * CITIES.length)]!,
      country: COUNTRIES[Math.floor(value(1) * COUNTRIES.length)]!,
      sector: SECTORS[Math.floor(value(2) * SECTORS.length)]!,
      revenues: Math.floor(value(3) * 4e9) / 4,
      founded: isoDate(FOUNDED_FROM + Math.floor(value(4) * 44_000) * DAY),
      active: value(5) < 0.9,
      phone: `+${10 + Math.floor(value(6) * 80)} ${100_000_000 + Math.floor(value(7) * 899_999_999)}`,
      website: `https://${word.toLowerCase()}.example.com/`,
    }
  }

  /** Different for each company. */
  companyName(row: number): string {
    return `${this.companyWord(row)} ${COMPANY_FORMS[row % COMPANY_FORMS.length]}`
  }

  employee(row: number): Employee {
    const firstName = FIRST_NAMES[Math.floor(this.value(row, FIELD.firstName) * FIRST_NAMES.length)]!
    const lastName = syllableName(this.nameOf(row))
    return {
      ID: row + 1,
      firstName,
      lastName,
      salary: this.salaryOf(row),
      birthDate: new Date(this.birthOf(row)).toISOString(),
      hired: isoDate(HIRED_FROM + Math.floor(this.value(row, FIELD.hired) * 12_700) * DAY),
      woman: this.value(row, FIELD.woman) < 0.5,
      department: DEPARTMENTS[this.departmentOf(row)]!,
      email: `${firstName}.${lastName}.${row + 1}@example.com`.toLowerCase(),
      notes: sentence(n => this.value(row, FIELD.notes + n)),
      employerID: this.employerOf(row) + 1,
    }
  }

  /** Number of the last name. */
  nameOf(row: number): number {
    return Math.floor(this.value(row, FIELD.lastName) * this.names)
  }

  /** A multiple of a quarter, so that sums are exact in every database. */
  salaryOf(row: number): number {
    return 20_000 + Math.floor(this.value(row, FIELD.salary) * 400_000) / 4
  }

  /** Milliseconds; a whole minute. */
  birthOf(row: number): number {
    return BORN_FROM + Math.floor(this.value(row, FIELD.birthDate) * BORN_MINUTES) * MINUTE
  }

  departmentOf(row: number): number {
    return Math.floor(this.value(row, FIELD.department) * DEPARTMENTS.length)
  }

  /** Row of the company. */
  employerOf(row: number): number {
    return Math.floor(this.value(row, FIELD.employer) * this.companies)
  }

  private companyWord(row: number): string {
    // Multiplying by an odd factor modulo a power of two yields every number once.
    return syllableName((row * 7919) % NAME_COUNT)
  }

  private value(row: number, field: number): number {
    return random(this.seed, row, field)
  }
}

const COMPANY_FORMS = ['Ltd', 'Group', 'Works', 'Partners', 'and Co']

const isoDate = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
