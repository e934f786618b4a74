import type { Page } from 'playwright-core'
import type { Scenarios } from '../harness.ts'

const filter = (page: Page) => page.getByRole('textbox', { name: 'Filter' })
const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })
const shownFilter = (page: Page): string | null => new URLSearchParams(page.url().split('?')[1]).get('filter')

/** A proposal of the list for what has been typed, and not for its beginning: until then the list is disabled, and Tab leaves the field. */
const proposal = (page: Page, name: string) =>
  page.locator('.cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)').getByRole('option', { name })

/** Errors that the server answers to incomplete drafts, which browsers report. */
const DRAFTS = /status of 40[04].*\$filter/

/** The filter as text and as rows, words, saved filters, entity sets, meaning and similarity. */
export const find: Scenarios = {
  'a filter is written with completion of names, comparators and values': async ({
    page,
    open,
    expect,
    sees,
    until,
  }) => {
    expect(DRAFTS)
    await open('City')
    await filter(page).click()
    await sees(page.locator('.cm-content'))
    await page.keyboard.type('coun')
    await sees(proposal(page, 'country'))
    await page.keyboard.press('Tab')
    await page.keyboard.type('name ')
    await sees(page.getByRole('option', { name: 'begin', exact: true }))
    await page.keyboard.type('= "Franc')
    await sees(proposal(page, '"France"'))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await until('the address has the filter', () => shownFilter(page) === 'country.name = "France"')
    await sees(/of 2,\d+/)
  },
  'words are searched in the texts of a class': async ({ page, open, sees, until }) => {
    await open('City')
    await filter(page).fill('los angeles')
    await sees(/found · words in name/)
    await filter(page).press('Enter')
    await until('the words are a filter', () => shownFilter(page)?.includes('name = "@angeles@"') ?? false)
    await sees('Los Ángeles')
  },
  'an error is underlined, and its correction is a click': async ({ page, open, expect, sees, missing, until, t }) => {
    expect(DRAFTS)
    await open('Country')
    await filter(page).click()
    await sees(page.locator('.cm-content'))
    await filter(page).fill('name = "A@" and popluation > 3')
    await sees('attribute "popluation" not found in class "Country"')
    const underlined = page.locator('.cm-lintRange-error')
    await until('the name is underlined', async () => (await underlined.textContent()) === 'popluation')
    await button(page, 'Replace by “population”').click()
    await sees(/\d+ found/)
    await missing(underlined)
    await page.reload()
    await open('Country?filter=area+%3E+3+and+popluation+%3E+3')
    await until('it is underlined in a filter of a link', async () => (await underlined.textContent()) === 'popluation')
    t.notOk(await page.evaluate('document.activeElement?.closest(".filter")'), 'without the focus')
  },
  'a value of the grid becomes the filter, and is left out': async ({ page, open, sees, until }) => {
    await open('City?filter=isCapital&order=name&columns=name,country.name')
    await page.getByRole('gridcell', { name: 'Abuja' }).click()
    await button(page, /^≠ Abuja/).click()
    await until('the filter excludes it', () => shownFilter(page) === 'isCapital except name = "Abuja"')
    await sees(/of 245\b/)
    await page.getByRole('gridcell', { name: 'Accra' }).click()
    await button(page, /^= Accra/).click()
    await until('the filter has it', () => shownFilter(page)?.endsWith('and name = "Accra"') ?? false)
    await sees(/of 1\b/)
  },
  'rows of conditions and the text are in step': async ({ page, open, accessible, expect, sees, until }) => {
    expect(DRAFTS)
    await open('City')
    await button(page, 'Conditions').click()
    await button(page, '+ Condition').click()
    await page.getByRole('textbox', { name: 'Value' }).fill('springfield')
    await until('the text has the condition', async () => {
      return (await filter(page).inputValue()) === 'name = "@springfield@"'
    })
    await button(page, '+ Group').click()
    await page.getByRole('combobox', { name: 'Comparison' }).nth(1).selectOption('begins with')
    await page.getByRole('textbox', { name: 'Value' }).nth(1).fill('Wes')
    await page.getByRole('combobox', { name: 'Connection' }).selectOption('except')
    await accessible()
    await button(page, 'Apply').click()
    await until('the address has both', () => shownFilter(page) === 'name = "@springfield@" except (name begin "Wes")')
    await filter(page).click()
    await sees(page.locator('.cm-content'))
    await filter(page).fill('name = :1')
    await sees('The rows cannot show this filter.')
  },
  'a condition without a value is not asked about': async ({ page, open, sees, settled, answers, t }) => {
    await open('Country')
    await button(page, 'Conditions').click()
    await button(page, '+ Condition').click()
    await page.getByRole('combobox', { name: 'Attribute' }).fill('population')
    await page.getByRole('textbox', { name: 'Value' }).click()
    await button(page, '+ Group').click()
    await settled()
    await page.getByRole('textbox', { name: 'Value' }).first().fill('9000000')
    await sees(/\d+ found/)
    t.notOk((await answers()).some(({ url }) => decodeURIComponent(url).includes('population = ""')))
  },
  'a saved filter outlives the page': async ({ page, open, accessible, sees, until }) => {
    await open('City?filter=isCapital&order=name%20desc')
    await button(page, 'Saved').click()
    await page.getByRole('textbox', { name: 'Name of this filter' }).fill('Capitals')
    await button(page, 'Save').click()
    await accessible()
    await page.route('**/rest/City?*', () => {})
    await open('City?filter=name%3DParis')
    await page.reload()
    await sees(page.locator('.grid[aria-busy=true]'))
    await accessible()
    await page.unrouteAll()
    await open('City')
    await page.reload()
    await page.getByRole('link', { name: 'Capitals' }).click()
    await until('the filter is applied', () => shownFilter(page) === 'isCapital')
    await sees('Zagreb')
  },
  'entity sets are kept, combined, opened and released': async ({ page, open, accessible, expect, sees, until }) => {
    expect(/status of 404.*\$entityset/)
    await open('City?filter=isCapital')
    await button(page, 'Sets').click()
    const keep = async (name: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Name for the entities that are shown' }).fill(name)
      await button(page, 'Keep as a set').click()
      await sees(page.getByRole('link', { name, exact: true }))
    }
    await keep('capitals')
    await open('City?filter=country.region.name%20%3D%20%22Caribbean%22')
    await until('it is shown', async () => /Caribbean/.test(await filter(page).inputValue()))
    await keep('caribbean')
    await sees(button(page, /^except \d+$/))
    await accessible()
    await button(page, /^and \d+$/).click()
    await sees(/Entity set “capitals ∩ caribbean”: \d+ entities/)
    await sees('Havana')
    await button(page, 'Release').nth(2).click()
    await until('the whole class is shown', () => page.url().endsWith('/City'))
    await open('City?set=0123456789ABCDEF0123456789ABCDEF')
    await sees('Entity set has ended')
  },
  'similar entities come first, with their score': async ({ page, open, accessible, sees, missing, until }) => {
    await open('Passage?entity=12')
    await page.getByRole('link', { name: 'Similar ones' }).click()
    await sees(/^Similar to “economy” by embedding/)
    const first = page.getByRole('row').nth(1)
    await until('the entity itself is the first', async () => /economy.*1.*12/.test((await first.textContent()) ?? ''))
    await accessible()
    await page.getByRole('link', { name: 'No longer by similarity' }).click()
    await until('the score is gone', () => !page.url().includes('SCORE'))
    await missing(page.getByRole('columnheader', { name: '__SCORE' }))
    await sees(/of 3,053/)
  },
  'a sentence finds what is about it': async ({ page, open, expect, sees, until }) => {
    // The model may still be loading, and the request is repeated.
    expect(/status of 503/)
    await open('Passage?filter=topic%20%3D%20climate')
    await button(page, 'By meaning').click()
    await page.getByRole('textbox', { name: 'A sentence, or some words' }).fill('cold wind')
    await page.route('**/Passage?*cold*', () => {})
    await button(page, 'Search').click()
    await button(page, 'Cancel').click()
    await sees('Cancelled.')
    await page.unrouteAll()
    await button(page, 'Search').click()
    await until('the filter has the sentence', () => shownFilter(page) === 'topic = climate and meaning = "cold wind"')
    await sees(page.getByRole('columnheader', { name: '__SCORE' }))
    await sees(/considerable mist/)
  },
}
