/** Chromium and the packages installed with it (`test/browser/install.mjs`): none of them is a package of the product. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { Browser, BrowserType } from 'playwright-core'

const folder = resolve('test/browser')
/** Resolves packages in that folder. */
export const installed = createRequire(`${folder}/`)

/**
 * A browser without windows. TESSER_TEST_BROWSER names another Chromium, which runs visibly and slowly.
 * @returns a sentence with the reason if none starts
 */
export async function startBrowser(): Promise<Browser | string> {
  const shown = process.env.TESSER_TEST_BROWSER
  const executablePath = shown ?? `${folder}/node_modules/chromium/chromium`
  if (!existsSync(executablePath)) return 'no browser is installed: node test/browser/install.mjs'
  try {
    const { chromium } = installed('playwright-core') as { chromium: BrowserType }
    const browser = await chromium.launch({
      executablePath,
      headless: !shown,
      ...(shown && { slowMo: 300 }),
      // Without `--single-process` and `--disable-web-security`, which its package proposes: they would change what is tested.
      args: ['--disable-gpu', '--font-render-hinting=none'],
    })
    // The first page is what needs libraries and fonts of the system.
    const page = await browser.newPage()
    await page.setContent('<p>Text</p>')
    await page.close()
    return browser
  } catch (error) {
    return `the browser does not start here: ${(error as Error).message.split('\n')[0]}`
  }
}
