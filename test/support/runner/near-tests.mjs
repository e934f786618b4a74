/** Modules that load plugins and threads of the build, or start its programs, while a test runs. */
const SERVER = 'kernel/main.ts'
const OUTPUT = 'engine/base/output-root.ts'
const PRODUCT = /^(engine|kernel|plugins|config)\//
/** Tests of files that no bundle contains: documents and tools. */
const OF_DOCUMENTS = /^test\/(docs|house)\//

/**
 * Test files that may notice a change.
 * @param {readonly string[]} changed files, from the root of the repository
 * @param {ReadonlyMap<string, readonly string[]>} imports of every module, tests included
 * @returns {string[]} those with the fewest modules first; among those that load the whole product, the ones that are named for
 *   a changed file first
 */
export function nearTests(changed, imports) {
  const isProductChanged = changed.some(file => PRODUCT.test(file) && imports.has(file))
  const areOthersChanged = changed.some(file => !imports.has(file))
  const words = new Set(changed.flatMap(file => file.split(/[/.]/).slice(1, -1)))
  const found = []
  for (const test of imports.keys()) {
    if (!/^test\/.*\.test\.ts$/.test(test)) continue
    const modules = reachedFrom(test, imports)
    const loadsProduct =
      modules.has(SERVER) || [...modules].some(file => file.startsWith('test/') && imports.get(file)?.includes(OUTPUT))
    const contains = changed.some(file => modules.has(file))
    if (!contains && !(loadsProduct && isProductChanged) && !(areOthersChanged && OF_DOCUMENTS.test(test))) continue
    const isNamed = test
      .split(/[/.]/)
      .slice(1, -2)
      .some(word => words.has(word))
    found.push({ test, rank: [changed.includes(test) ? 0 : 1, loadsProduct ? 1 : 0, isNamed ? 0 : 1, modules.size] })
  }
  return found.sort((a, b) => compare(a.rank, b.rank)).map(({ test }) => test)
}

function reachedFrom(file, imports, reached = new Set()) {
  if (reached.has(file)) return reached
  reached.add(file)
  for (const next of imports.get(file) ?? []) reachedFrom(next, imports, reached)
  return reached
}

const compare = (a, b) => a.map((each, i) => each - b[i]).find(difference => difference !== 0) ?? 0
