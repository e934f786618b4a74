import type { Page } from 'playwright-core'
import type { Scenarios } from '../harness.ts'

/** The object that a browser passes on when a file is dropped. */
const transferOf = (page: Page, name: string, type: string, content: string) =>
  page.evaluateHandle(`(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}, { type: ${JSON.stringify(type)} }))
    return transfer
  })()`)

const PHOTO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20" fill="teal"/></svg>'

/** Files that are dropped onto the fields of an entity. */
export const drop: Scenarios = {
  'an image and a blob are dropped and saved': async ({ page, open, sees, t, url }) => {
    const fill = async (place: string, attribute: string, file: readonly [string, string, string]): Promise<void> => {
      await open(`${place}&edit=1`)
      const field = page.getByRole('group', { name: attribute })
      await field.waitFor()
      const dataTransfer = await transferOf(page, ...file)
      for (const event of ['dragover', 'drop']) await field.dispatchEvent(event, { dataTransfer })
      await sees(field.getByText(file[0]))
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await sees(/ was saved\.$/)
    }
    await fill('Employee?entity=1', 'photo', ['me.svg', 'image/svg+xml', PHOTO])
    await fill('Company?entity=1', 'contract', ['contract.txt', 'text/plain', 'signed'])
    const stored = async (path: string) => (await fetch(`${url}/rest/${path}`)).text()
    t.equal(await stored('Employee(1)/photo?$imageformat=best&$expand=photo'), PHOTO)
    t.equal(await stored('Company(1)/contract?$binary=true&$expand=contract'), 'signed')
  },
}
