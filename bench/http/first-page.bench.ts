import { baselinePath, httpCase, oursPath } from './http-case.ts'

export default httpCase({
  name: 'first-page',
  title: 'first page of 100',
  kind: 'read',
  postgres: true,
  requests: world => ({
    size: 256,
    // The first row of the page differs, so that no two requests are alike.
    at: skip => ({
      ours: { path: oursPath('Employee', { $skip: skip, $top: 100 }) },
      baseline: { path: baselinePath('employees', { skip, top: 100 }) },
      expected: () => ({
        kind: 'page',
        count: world.employees,
        first: skip,
        rows: Array.from({ length: 100 }, (_, i) => skip + i),
      }),
    }),
  }),
  goals: { baseline: 10, bound: 0.5 },
})
