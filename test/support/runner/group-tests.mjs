import { mkdir, writeFile } from 'node:fs/promises'

/**
 * Test files that share a process in `npm test`, with a maximum number for each folder: most of them take less time than the
 * start of Node, tap and the engine. Each can still be run alone.
 */
const GROUPED =
  /^test\/(browser|client|concurrency|deploy|docs|edge|functions|generators|house|plugin|property|protocol|unit\/[^/]+)\//
const GROUP_SIZE = 40
/** Tests that change what others share, or measure the time or memory of their process. */
const ALONE =
  /browser\/explorer|deploy\/packed|protocol\/(aborts|pooled|demo|session|hostile-uploads)\.|simd\/sketch\.|write\/slices\.|cli\/(accounts|clone-obstacles|clone-shop|clone-types|load-resume|main)\.|exposed-files|transport\/(body-collector|connection-limit|memory|slow-readers|streaming)\.|explorer\/base\/(counts|format)\./

/**
 * Writes `groups/*.test.js` into a build: what `npm test` runs, one process each.
 * @param {URL} output folder of the build
 * @param {readonly string[]} files of all tests, from the root of the repository; files that share modules are adjacent
 */
export async function writeTestGroups(output, files) {
  const folder = new URL('groups/', output)
  await mkdir(folder)
  for (const [name, members] of groupsOf(files)) {
    const built = members.map(file => `../${file.replace(/ts$/, 'js')}`)
    await writeFile(new URL(`${name}.test.js`, folder), groupOf(built))
  }
}

/** Time that the files of a process have together, in milliseconds, in addition to what each asks for by `t.setTimeout`. */
const TIMEOUT_MS = 3_600_000

/**
 * Ends the root of tap once all files are loaded. Once any file has called `t.teardown`, tap ends it as soon as it is idle, and the
 * tests of a file that is still waiting, such as for a database, would be left out without failing.
 */
const groupOf = files => `import t from 'tap'
import { inOrder } from '../../test/support/runner/in-order.mjs'

const files = ${JSON.stringify(files, undefined, 2)}
const { end, setTimeout } = t
t.end = () => t
let timeout = ${TIMEOUT_MS}
t.setTimeout = ms => setTimeout.call(t, (timeout += ms))
try {
  await Promise.all(inOrder(t, files).map(file => import(new URL(file, import.meta.url))))
} finally {
  t.end = end
  t.end()
}
`

/** @returns {Map<string, string[]>} by the name of the group */
function groupsOf(files) {
  const groups = new Map()
  const counts = new Map()
  for (const file of files) {
    const path = file.slice('test/'.length, -'.test.ts'.length)
    if (!GROUPED.test(file) || ALONE.test(file)) {
      groups.set(path.replaceAll('/', '-'), [file])
      continue
    }
    const [, folder] = GROUPED.exec(file)
    const count = counts.get(folder) ?? 0
    counts.set(folder, count + 1)
    const name = `${folder.replace('/', '-')}-${1 + Math.floor(count / GROUP_SIZE)}`
    groups.set(name, [...(groups.get(name) ?? []), file])
  }
  return groups
}
