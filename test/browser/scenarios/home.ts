import type { Scenarios } from '../harness.ts'

/** The overview, the palette, the shortcuts. */
export const home: Scenarios = {
  'the overview shows the classes with their counts and relations': async ({
    page,
    open,
    sees,
    settled,
    accessible,
  }) => {
    await open()
    await sees(page.getByRole('heading', { name: 'Overview', level: 1 }))
    const cards = page.getByRole('region', { name: 'Classes' })
    await sees(cards.getByRole('listitem').filter({ hasText: 'Employee' }).getByText('6 entities'))
    await settled()
    await accessible()
    await cards.getByRole('link', { name: '→ Company' }).first().click()
    await sees(page.getByRole('heading', { name: 'Company', level: 1 }))
  },
  'places that were shown are offered again': async ({ page, open, sees, settled }) => {
    await open('Employee?filter=ID%3D1')
    await settled()
    await open()
    await page.getByRole('region', { name: 'Recent places' }).getByRole('link', { name: 'Employee ID=1' }).click()
    await sees(page.getByRole('heading', { name: 'Employee', level: 1 }))
  },
  'the palette leads to a class and to an entity by its key': async ({ page, open, sees, accessible, t, until }) => {
    await open()
    await sees(page.getByRole('heading', { name: 'Overview', level: 1 }))
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'A class, a page' })
    await field.fill('comp')
    await sees(page.getByRole('option', { name: /^Company/ }))
    await accessible()
    await field.press('Enter')
    await sees(page.getByRole('heading', { name: 'Company', level: 1 }))
    await page.keyboard.press('Control+k')
    await field.fill('employee 2')
    await field.press('Enter')
    await until('the entity is in the address', () => page.url().endsWith('#/Employee?entity=2'))
    t.pass('opened')
  },
  'the shortcuts are shown by a question mark': async ({ page, open, sees, missing, accessible }) => {
    await open()
    await sees(page.getByRole('heading', { name: 'Overview', level: 1 }))
    await page.keyboard.press('?')
    await sees(page.getByRole('dialog', { name: 'Shortcuts' }))
    await accessible()
    await page.keyboard.press('Escape')
    await missing(page.getByRole('dialog', { name: 'Shortcuts' }))
  },
  'the session says who the user is': async ({ page, open, sees }) => {
    await open()
    await page.getByRole('button', { name: 'Guest' }).click()
    await sees('May administrate the server')
  },
  'a wrong login is said in the dialog': async ({ page, open, sees, expect, accessible }) => {
    expect(/status of 401/)
    await open()
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('textbox', { name: 'User name' }).fill('nobody')
    await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click()
    await sees('invalid user name or password')
    await accessible()
  },
}
