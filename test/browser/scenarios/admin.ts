import type { Scenarios } from '../harness.ts'

/** Administration, by a guest who may administrate. */
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
    const uri: string = await page.evaluate(
      "fetch('/rest/Employee?$method=entityset&$filter=%22ID>1%22').then(answer => answer.json()).then(set => set.__ENTITYSET)",
    )
    await page.getByRole('button', { name: 'Refresh' }).click()
    // Others are of earlier scenarios.
    const row = page.getByRole('row').filter({ hasText: uri.split('/').at(-1)! })
    await sees(row)
    await accessible()
    await row.getByRole('button', { name: 'Release' }).click()
    await sees('The entity set is released.')
  },
  'locks are listed with their sessions, which can be ended': async visit => {
    const { page, open, sees, missing, settled, accessible } = visit
    await open('$admin?part=locks')
    await sees(page.getByRole('button', { name: 'Refresh' }))
    await settled()
    // Without the cookie, the server sees another client.
    await page.evaluate(
      "fetch('/rest/Employee(3)?$lock=true', { method: 'POST', credentials: 'omit' }).then(answer => answer.text())",
    )
    await page.getByRole('button', { name: 'Refresh' }).click()
    const lock = page.getByRole('row').filter({ hasText: 'Employee' })
    await sees(lock.getByRole('link', { name: '3', exact: true }))
    await accessible()
    const session = await lock.getByRole('code').textContent()
    await page.getByRole('link', { name: 'Sessions' }).click()
    await sees('this session')
    await settled()
    await accessible()
    const other = page.getByRole('row').filter({ hasText: session! })
    await other.getByRole('button', { name: 'End' }).click()
    await sees('The session has ended.')
    await missing(other)
    await sees('this session')
    await page.getByRole('link', { name: 'Locks' }).click()
    await sees('0 of 0')
  },
  'a change of the model is prepared': async ({ page, open, sees, settled, accessible }) => {
    await open('$admin?part=modelChange')
    await sees('No change is prepared.')
    await page.getByRole('button', { name: 'Prepare the change' }).click()
    await sees('The change is being prepared')
    // The model file is that of the server.
    await sees('No change is prepared.')
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

/** Administration with roles, by a user with the privilege for it. */
export const rights: Scenarios = {
  'an administrator sees what a role may see, and why': async ({ page, open, sees, accessible, settled, t }) => {
    await open('$admin?part=rights')
    await sees('This page is for administrators')
    t.equal(await page.getByRole('link', { name: 'Administration' }).count(), 0)
    await page.getByRole('button', { name: 'Log in' }).click()
    const dialog = page.getByRole('dialog', { name: 'Log in' })
    await dialog.getByRole('textbox', { name: 'User name' }).fill('admin')
    await dialog.getByLabel('Password').fill('correct horse')
    await dialog.getByRole('button', { name: 'Log in' }).click()
    const of = page.getByRole('combobox', { name: 'Rights of' })
    await sees(of)
    await page.getByRole('searchbox', { name: 'Search' }).fill('worldwide')
    const gross = page.getByRole('row', { name: 'Movie.worldwideGross' })
    await sees(gross.getByText('✗ no'))
    await sees(gross.getByText('needs viewBoxOffice'))
    await accessible()
    await of.selectOption('press')
    await sees(page.getByText('viewBoxOffice by press'))
    await settled()
    await sees(gross.getByText('✓ yes'))
    await sees(gross.getByText('by viewBoxOffice'))
    t.match(page.url(), /part=rights&of=role%2Fpress$/)
    await accessible()
  },
}
