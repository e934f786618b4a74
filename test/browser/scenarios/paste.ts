import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import type { Scenarios } from '../harness.ts'

const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name })

/** Many entities at once: pasted as a table, and deleted as chosen rows. */
export const paste: Scenarios = {
  'a table is checked, saved and reported row by row': async ({ page, open, sees, accessible, expect, t, url }) => {
    expect(/status of (?:409|422)/)
    await open('Director')
    await button(page, /^Paste/).click()
    const area = page.getByRole('textbox', { name: /^Paste a table/ })
    await area.fill(`Name\nAda Pasted\n${'x'.repeat(90)}\nBea Pasted`)
    await area.blur()
    await button(page, 'Check').click()
    await sees('2 can be saved, 1 cannot.')
    await sees(/at most 80 are expected/)
    await accessible()
    await button(page, /^Save \d/).click()
    await sees('2 were saved, 1 were not.')
    const download = page.waitForEvent('download')
    await button(page, /^Download/).click()
    const report = readFileSync(await (await download).path(), 'utf8')
    t.match(report, /^name\t__ERROR\nx{90}\tname has 90 characters/)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await sees('2 entities were created.')
    await button(page, 'Undo').click()
    await sees('2 were deleted again.')
    const left = await fetch(`${url}/rest/Director?$filter="name=@Pasted"`)
    t.equal(((await left.json()) as { __COUNT: number }).__COUNT, 0)
    await page.getByRole('gridcell', { name: 'Akira Kurosawa' }).waitFor({ state: 'attached' })
  },
  'chosen rows are deleted, and those that stay are listed': async ({ page, open, sees, accessible, expect, url }) => {
    expect(/status of 409/)
    const body = JSON.stringify([801, 802].map(ID => ({ ID, name: `Chosen ${ID}` })))
    await fetch(`${url}/rest/Genre?$method=update`, { method: 'POST', body })
    await open(`Genre?filter=${encodeURIComponent('ID = 12 or ID > 800')}`)
    await page.getByRole('gridcell', { name: 'Chosen 801' }).click()
    await page.keyboard.press('Control+a')
    await button(page, 'Delete 3…').click()
    await accessible()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await sees('2 were deleted. 1 could not be deleted:')
    await sees(/entity "?12"? of Genre is still referenced/)
  },
}
