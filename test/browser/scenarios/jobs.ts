import type { Scenarios } from '../harness.ts'

/** Jobs, by a guest who may administrate. */
export const jobs: Scenarios = {
  'jobs that have failed are read, run again and removed': async ({ page, open, sees, missing, accessible }) => {
    await open('$admin?part=jobs')
    await sees(page.getByRole('row').filter({ hasText: 'ds.fails' }))
    await sees(page.getByRole('row').filter({ hasText: '0 0 1 1 *' }))
    await page.evaluate(
      `fetch('/rest/$catalog/put', { method: 'POST', body: '["ds.fails",["broken",9],{}]' }).then(answer => answer.text())`,
    )
    const failed = page.getByRole('row').filter({ hasText: 'broken' })
    await sees(failed.filter({ hasText: 'Error: attempt 3' }))
    await accessible()
    await failed.getByRole('button', { name: 'Run again' }).click()
    await sees('The job runs again.')
    await sees(failed)
    await page.getByRole('button', { name: 'Run all again that have failed' }).click()
    await sees('1 job runs again.')
    await failed.getByRole('button', { name: 'Remove' }).click()
    await sees('The job is removed.')
    await missing(failed)
  },
}
