import type { Scenarios } from '../harness.ts'

/** Administration, as a guest who may administrate. */
export const admin: Scenarios = {
  'figures of the last minute': async ({ page, open, sees, accessible }) => {
    await open('$admin')
    await sees(
      page
        .getByRole('figure')
        .filter({ hasText: 'Requests' })
        .getByText(/^[\d.,]+ per second$/),
    )
    await accessible()
  },
  'entity sets are listed and released': async ({ page, open, sees, accessible }) => {
    await open('$admin?part=entitySets')
    await page.evaluate("fetch('/rest/Employee?$method=entityset&$filter=%22ID>1%22').then(answer => answer.text())")
    await page.getByRole('button', { name: 'Refresh' }).click()
    const row = page.getByRole('row').filter({ hasText: 'Employee' }).first()
    await sees(row)
    await accessible()
    await row.getByRole('button', { name: 'Release' }).click()
    await sees('The entity set is released.')
  },
  'locks are listed with their sessions, which can be ended': async ({ page, open, sees, accessible, settled }) => {
    await open('$admin?part=locks')
    await sees(page.getByRole('button', { name: 'Refresh' }))
    await page.evaluate("fetch('/rest/Employee(3)?$lock=true', { method: 'POST' }).then(answer => answer.text())")
    await page.getByRole('button', { name: 'Refresh' }).click()
    await sees(page.getByRole('row').filter({ hasText: 'Employee' }).getByRole('link', { name: '3', exact: true }))
    await accessible()
    await open('$admin?part=sessions')
    await sees('this session')
    await settled()
    await accessible()
  },
  'quotas, rights and all figures': async ({ open, sees, settled, accessible }) => {
    await open('$admin?part=quotas')
    await sees('There are no quotas')
    await open('$admin?part=rights')
    await sees('There is no roles.json')
    await open('$admin?part=figures')
    await sees('buffers_used_bytes')
    await settled()
    await accessible()
  },
}
