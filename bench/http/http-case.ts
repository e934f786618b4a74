import type { Employee, World } from '../world/world.ts'

/** `remote` is our server with its dataclasses in PostgreSQL. */
export type Target = 'ours' | 'baseline' | 'postgres' | 'remote' | 'bound'
export const TARGETS: readonly Target[] = ['ours', 'baseline', 'postgres', 'remote', 'bound']

/** Server whose requests are sent to a target. */
export const requestsFor = (target: Target): 'ours' | 'baseline' =>
  target === 'baseline' || target === 'postgres' ? 'baseline' : 'ours'

/** A request: GET, or POST if it has a body. */
export interface Address {
  /** Path and query as in the request line; ASCII. */
  path: string
  /** JSON; ASCII. */
  body?: string
}

/** Expected answer, computed from the world and not from a database. Attributes that are not named have the values of the row. */
export type Expectation =
  | { kind: 'employee'; row: number }
  /** Rows of the page in order. */
  | { kind: 'page'; count: number; first: number; rows: readonly number[]; expanded?: boolean }
  | { kind: 'value'; value: unknown }
  /** The entity after a save. Without `row`, it is a new entity with these values. */
  | { kind: 'saved'; row?: number; stamp: number; values: Partial<Employee> }
  | { kind: 'savedMany'; count: number }

export interface BenchRequest {
  ours: Address
  /** The same question for the hand-written routes. */
  baseline: Address
  expected: () => Expectation
}

/** The requests of a case, by number: the same number is always the same request. */
export interface Requests {
  /** Number of different requests, which are then repeated; Infinity if none may be sent twice. */
  size: number
  at(n: number): BenchRequest
}

/** Required speed. Ratios are of requests per second. */
export interface Goals {
  baseline?: number
  /** Minimum ratio to the faster of the baseline and PostgreSQL; not checked without PostgreSQL. */
  better?: number
  bound?: number
  /** Minimum rate at 32 connections. */
  perSecond?: number
  p99Ms?: number
  /** Maximum p99 latency of the requests of {@link HttpCase.beside}. */
  besideP99Ms?: number
  /** At most `factor` times the time of a request of the case `of`. */
  cost?: { of: string; factor: number }
  /** Maximum additional time of a request, compared with a request of the case `to`. */
  added?: { to: string; microseconds: number }
}

export interface HttpCase {
  /** Name for `--case`. */
  name: string
  /** Title in the report. */
  title: string
  /** Reads come first: writes change the world that they expect. */
  kind: 'read' | 'write'
  /** Number of concurrent connections, if it differs from the default (32). */
  connections?: number
  /** True if the case is also measured with PostgreSQL where it is installed: through hand-written routes and through our server. */
  postgres?: boolean
  /** Number of rows that each request adds to Employee. */
  inserts?: number
  requests(world: World): Requests
  /** Requests that are sent at the same time over 8 more connections and timed separately. */
  beside?(world: World): Requests
  goals: Goals
}

/** Gives a case its types. */
export const httpCase = (bench: HttpCase): HttpCase => bench

/** A query string as clients send it: `?$top=10&$filter=%22…%22`. */
export function oursPath(path: string, parameters: Readonly<Record<string, string | number>> = {}): string {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `/rest/${path}${query.length > 0 ? `?${query.join('&')}` : ''}`
}

export const baselinePath = (path: string, parameters: Readonly<Record<string, string | number>> = {}): string =>
  oursPath(path, parameters).slice('/rest'.length)
