/**
 * The explorer as every principal of the permission matrix sees it: names that the principal may not read are neither in the
 * page, nor in its address, nor in its requests and their answers.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { hashKey } from '../../kernel/auth/directory.ts'
import {
  CLASSES,
  FACTS,
  model,
  PRINCIPALS,
  randomRoles,
  RELATIONS,
  rows,
  SCALARS,
} from '../support/reference/permission-world.ts'
import { Evaluator, type RolesFile } from '../support/reference/permissions.ts'
import { randomOf } from '../support/base/random.ts'
import { isLong, seeds } from '../support/runner/rounds.ts'
import { matrixPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'
import { inBrowser, type Scenarios, type Visit } from './harness.ts'

/** Texts, attributes and fields of the page and its shadow trees, without words of the markup itself, such as tag and style names. */
const SHOWN = `(function within(root) {
  return [...root.querySelectorAll('*')].flatMap(element => element.shadowRoot ? [element, ...within(element.shadowRoot)] : [element])
})(document).flatMap(element => [
  ...[...element.childNodes].filter(node => node.nodeType === 3 && !/^(STYLE|SCRIPT)$/.test(element.tagName)).map(node => node.data),
  ...[...element.attributes].filter(({ name }) => name !== 'class').map(({ value }) => value),
  element.value ?? '',
]).join('\\n')`

const servers = new Map<string, TestServer>()

/** @returns names of dataclasses and attributes that a principal may see, or may not */
function namesOf(may: Evaluator, wanted: boolean): string[] {
  const attributes = CLASSES.flatMap(dataClass =>
    [...SCALARS[dataClass], ...RELATIONS[dataClass]].filter(
      name => (may.dataClass('read', dataClass) && may.shows(dataClass, name)) === wanted,
    ),
  )
  return [...CLASSES.filter(name => may.dataClass('read', name) === wanted), ...attributes]
}

const isIn = (text: string, name: string): boolean => new RegExp(`(?<![A-Za-z])${name}(?![A-Za-z])`).test(text)

/** Opens everything above one dataclass: forms, panels of the filter with its completion, columns, the palette. */
async function openAll(
  { page, open, sees, settled }: Visit,
  dataClass: string,
  look: () => Promise<void>,
): Promise<void> {
  for (const edit of ['entity=1&edit=1', 'edit=new']) {
    await open(`${dataClass}?${edit}`)
    await sees(page.getByRole('complementary', { name: 'Entity' }))
    await settled()
    await look()
  }
  await open(dataClass)
  await page.getByRole('button', { name: 'Conditions' }).click()
  await page.getByRole('button', { name: '+ Condition' }).click()
  await look()
  for (const name of ['Saved', 'Sets']) {
    await page.getByRole('button', { name }).click()
    await sees(page.getByRole('region', { name }))
    await look()
  }
  await page.getByRole('textbox', { name: 'Filter' }).click()
  await sees(page.locator('.cm-content'))
  for (const key of ['Control+a', 'Backspace', 'Control+Space']) await page.keyboard.press(key)
  await sees(page.locator('.cm-completionLabel'))
  await look()
  await page.keyboard.press('Escape')
  for (const show of [
    () => page.getByRole('button', { name: 'Columns' }).click(),
    () => page.keyboard.press('Control+k'),
  ]) {
    await show()
    await sees(page.getByRole('dialog'))
    await look()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
}

/** Shows every view of these dataclasses, and checks each. */
async function tour(
  visit: Visit,
  { seen, hidden }: { readonly seen: readonly string[]; readonly hidden: readonly string[] },
  look: () => Promise<void>,
): Promise<void> {
  const { page, open, sees, settled } = visit
  await open()
  await sees(page.getByRole('navigation', { name: 'Classes' }))
  await look()
  for (const dataClass of hidden) {
    await open(dataClass)
    await sees('There is no class of this name here.')
    await look()
  }
  for (const dataClass of seen) {
    await open(dataClass)
    await sees(page.getByRole('heading', { name: dataClass }))
    await settled()
    await look()
    for (const link of await linksOf(page, '.tabs a')) {
      await open(link)
      await settled()
      await look()
    }
    await open(`${dataClass}?entity=1`)
    await settled()
    await look()
    if (isLong || dataClass === seen[0]) await openAll(visit, dataClass, look)
  }
  for (const link of await linksOf(page, '.classes ul:last-of-type a')) {
    await open(link)
    await settled()
    await look()
  }
}

const linksOf = async (page: Page, selector: string): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map(a => a.hash.slice(2))`)

/** Rights that show something to every principal, and hide something from each. */
function rightsOf(seed: number): RolesFile {
  const random = randomOf(seed)
  const isTelling = (file: RolesFile): boolean =>
    PRINCIPALS.every(principal => {
      const may = new Evaluator(file, principal, FACTS)
      return namesOf(may, true).length > 0 && namesOf(may, false).length > 0
    })
  for (;;) {
    const file = randomRoles(random)
    if (isTelling(file)) return file
  }
}

function scenariosOf(seed: number): Scenarios {
  const file = rightsOf(seed)
  return Object.fromEntries(
    PRINCIPALS.map(principal => [
      `rights of seed ${seed}, seen by ${principal.name}`,
      {
        context: principal.key ? { extraHTTPHeaders: { authorization: `Bearer ${principal.key}` } } : {},
        run: async (visit: Visit) => {
          const { t, page, url, answers } = visit
          servers.get(url)!.engine.permissions.replace(file)
          const may = new Evaluator(file, principal, FACTS)
          const seen = namesOf(may, true)
          // Names that are hidden in one dataclass and visible in another cannot be told apart.
          const hidden = namesOf(may, false).filter(name => !seen.includes(name))
          const told = new Set<string>()
          const shown = new Set<string>()
          await tour(
            visit,
            {
              seen: CLASSES.filter(name => seen.includes(name)),
              hidden: CLASSES.filter(name => hidden.includes(name)),
            },
            async () => {
              const text: string = await page.evaluate(SHOWN)
              for (const name of hidden) if (isIn(text, name)) told.add(`${name} at ${page.url()}`)
              for (const name of seen) if (isIn(text, name)) shown.add(name)
            },
          )
          for (const answer of await answers()) {
            for (const name of hidden) {
              if ([decodeURIComponent(answer.url), answer.sent, answer.text].some(each => isIn(each, name)))
                told.add(`${name} in ${answer.url}`)
            }
          }
          t.same([...told], [], `none of ${hidden.length} hidden names is in the page or in an answer`)
          const missed = seen.filter(name => !shown.has(name))
          t.same(missed, [], 'all other names are shown')
        },
      },
    ]),
  )
}

await inBrowser({ roles: Object.assign({}, ...seeds(isLong ? 12 : 1).map(scenariosOf)) }, async (t, transport) => {
  const folder = temporaryFolder(t)
  const keys = PRINCIPALS.filter(({ key }) => key).map(({ name, key, privileges, roles }) => {
    return { name, hash: hashKey(key), privileges, roles }
  })
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ keys }))
  const server = await startServer(
    t,
    { model, rows },
    { folder, transport, setting: 'normal', config: { plugins: [matrixPlugin] } },
  )
  servers.set(server.url, server)
  return server.url
})
