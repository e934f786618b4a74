import { rowsByName } from '../world/columns.ts'
import type { World } from '../world/world.ts'
import { baselinePath, type HttpCase, httpCase, oursPath, type Requests } from './http-case.ts'

const PAGE = 50

/** Pages near the nth: their start differs, so that no two requests are alike. */
const pages = (world: World, page: number): Requests => ({
  size: 256,
  at: n => {
    const skip = (page - 1) * PAGE + n
    return {
      ours: { path: oursPath('Employee', { $orderby: 'lastName', $skip: skip, $top: PAGE }) },
      baseline: { path: baselinePath('employees/by-name', { skip, top: PAGE }) },
      expected: () => ({
        kind: 'page',
        count: world.employees,
        first: skip,
        rows: rowsByName(world).slice(skip, skip + PAGE),
      }),
    }
  },
})

export const firstSortedPage: HttpCase = httpCase({
  name: 'sorted-page-1',
  title: 'all rows by an indexed attribute, page 1',
  kind: 'read',
  postgres: true,
  requests: world => pages(world, 1),
  goals: {},
})

export const deepSortedPage: HttpCase = httpCase({
  name: 'sorted-page-10000',
  title: 'all rows by an indexed attribute, page 10,000 (of 100 k rows: 1,000)',
  kind: 'read',
  postgres: true,
  // The middle of the result.
  requests: world => pages(world, world.employees / PAGE / 2),
  goals: { cost: { of: 'sorted-page-1', factor: 3 } },
})
