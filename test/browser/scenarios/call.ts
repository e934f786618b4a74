import type { Scenarios } from '../harness.ts'

/** Class functions of the plugin `staff`. */
export const call: Scenarios = {
  'a function of the datastore with arguments': async ({ page, open, sees, accessible }) => {
    await open('$call')
    await page.getByRole('link', { name: 'login' }).click()
    await page.getByRole('textbox', { name: 'Argument 1' }).fill('ada')
    await page.getByRole('textbox', { name: 'Argument 2' }).fill('ada')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await sees(page.locator('.tree').getByText('true'))
    await accessible()
    await page.reload()
    await page.getByRole('button', { name: '(ada, ada)' }).click()
    await sees(page.getByRole('textbox', { name: 'Argument 3' }))
  },
  'a function of a class by GET, its entities kept as a set': async ({ page, open, sees, accessible, answers, t }) => {
    await open('Employee?tab=call')
    await page.getByRole('link', { name: 'wellPaid' }).click()
    await page.getByRole('textbox', { name: 'Argument 1' }).fill('1')
    await page.getByRole('combobox', { name: 'Method' }).selectOption('GET')
    await page.getByRole('checkbox', { name: /^Keep/ }).check()
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await sees(page.getByRole('columnheader', { name: 'lastName' }))
    await accessible()
    t.ok((await answers()).some(({ url }) => url.includes('/wellPaid?') && url.includes('$params')))
    await page.getByRole('link', { name: 'Open the selection' }).click()
    await sees(page.getByRole('grid', { name: 'Entities of Employee' }))
    await sees(page.getByRole('heading', { name: 'Employee', level: 1 }))
    t.match(page.url(), /set=[0-9A-F]{32}/)
  },
  'a function of an entity, and one that fails': async ({ page, open, sees, expect, until, url }) => {
    await open('Employee?tab=call&function=entity.greet')
    await page.getByRole('textbox', { name: 'Key of the entity' }).fill('1')
    await page.evaluate('navigator.clipboard.writeText = async text => { window.copied = text }')
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    const curl = `curl -g '${url}/rest/Employee(1)/greet' -H 'Content-Type: application/json' -d '[]'`
    await until('the call is copied', async () => (await page.evaluate('window.copied')) === curl)
    await page.route('**/greet', () => {})
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await sees('The server may still carry out the function.')
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await sees(page.getByText(/^\d+ ms · \d+ bytes · 200$/))
    expect(/status of 500/)
    await page.getByRole('link', { name: 'fails' }).click()
    await sees(page.getByRole('heading', { name: 'fails' }))
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await sees(page.getByRole('alert'))
  },
}
