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
  'an image and a blob are dropped and saved': async ({ page, open, sees, missing, until, url }) => {
    // The message of the first save still shows during the second one, so each waits for what the server has, and for its form.
    const drop = async (place: string, attribute: string, file: readonly [string, string, string], address: string) => {
      const [name, , content] = file
      await open(`${place}&edit=1`)
      const field = page.getByRole('group', { name: attribute })
      await field.waitFor()
      const dataTransfer = await transferOf(page, ...file)
      for (const event of ['dragover', 'drop']) await field.dispatchEvent(event, { dataTransfer })
      await sees(field.getByText(name))
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await until(
        `${attribute} is what was dropped`,
        async () => (await (await fetch(`${url}/rest/${address}`)).text()) === content,
      )
      await missing(field)
      await sees(/ was saved\.$/)
    }
    const photo = 'Employee(1)/photo?$imageformat=best&$expand=photo'
    await drop('Employee?entity=1', 'photo', ['me.svg', 'image/svg+xml', PHOTO], photo)
    const contract = 'Company(1)/contract?$binary=true&$expand=contract'
    await drop('Company?entity=1', 'contract', ['contract.txt', 'text/plain', 'signed'], contract)
  },
}
