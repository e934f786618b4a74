/** Accessibility faults, found by axe-core. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { installed } from './chromium.ts'

interface AxeResults {
  readonly violations: readonly {
    id: string
    help: string
    nodes: readonly { html: string; failureSummary: string }[]
  }[]
}

/** Faults of the current page, in light and in dark; in dark, only of the colours, since nothing else depends on the theme. */
export async function accessFaults(page: Page): Promise<string[]> {
  const isThere: boolean = await page.evaluate('"axe" in window')
  if (!isThere) await page.evaluate(readFileSync(installed.resolve('axe-core/axe.min.js'), 'utf8'))
  const inLight = await run(page, '')
  await page.emulateMedia({ colorScheme: 'dark' })
  const inDark = await run(page, 'runOnly: ["color-contrast"],')
  await page.emulateMedia({ colorScheme: 'light' })
  return [...inLight, ...inDark.map(fault => `dark: ${fault}`)]
}

async function run(page: Page, rules: string): Promise<string[]> {
  const { violations }: AxeResults = await page.evaluate(
    `axe.run({ ${rules} resultTypes: ["violations"], selectors: false })`,
  )
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}
