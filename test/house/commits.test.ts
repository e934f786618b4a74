/** Subjects of commits that are not on `main` yet: `area: what it does now`, in 72 characters. */
import { execFileSync } from 'node:child_process'
import t from 'tap'

const MAX_LENGTH = 72
/** One or two areas: a folder, a room or a topic, such as `plugins/mcp` or `docs`. */
const SUBJECT = /^[\w./-]+(?:, [\w./-]+)?: \S/
const UNFINISHED = /^(?:wip|fixup!|squash!|tmp|temp)\b|\bwip\b/i

const git = (...args: string[]): string | undefined => {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    // A folder without a repository, or without that branch.
    return undefined
  }
}

const base = ['main', 'origin/main'].find(branch => git('rev-parse', '--verify', '--quiet', branch))
const listed = base && git('log', '--no-merges', '--format=%s', `${base}..HEAD`)

t.test('subjects of commits name their area and say what it does now', async t => {
  const subjects = listed ? listed.split('\n') : []
  t.comment(`${subjects.length} commits beyond ${base ?? 'no branch main'}`)
  t.same(
    subjects.filter(each => each.length > MAX_LENGTH || !SUBJECT.test(each) || UNFINISHED.test(each)),
    [],
  )
})
