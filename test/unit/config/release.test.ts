/** A release is tagged only when its documents agree. */
import t from 'tap'
import { notesOf, releaseProblems } from '../../../config/release.mjs'

const NOTES =
  'Everything that an application needs to store and query its data over HTTP, with rights and functions.'.padEnd(
    120,
    '.',
  )
const agreed = {
  version: '1.2.0',
  changelog: `# Changelog\n\n## 1.2.0 (2026-11-30)\n\n${NOTES}\n\n## 1.1.0 (2026-10-01)\n\nOlder.\n`,
  security: '| 1.2 | yes |',
  tags: ['v1.1.0'],
  status: '',
}

t.test('documents that agree', async t => {
  t.same(releaseProblems(agreed), [])
  t.equal(notesOf(agreed.changelog), NOTES)
})

for (const [title, change, problem] of [
  [
    'another version',
    { version: '1.3.0', security: '| 1.3 | yes |' },
    /begins with 1\.2\.0, package\.json has 1\.3\.0/,
  ],
  ['no date', { changelog: agreed.changelog.replace('2026-11-30', 'unreleased') }, /in place of "unreleased"/],
  ['no notes', { changelog: '## 1.2.0 (2026-11-30)\n' }, /the section of 1\.2\.0 says nothing/],
  ['no row of the security policy', { security: '' }, /add a row for 1\.2/],
  ['a tag that exists', { tags: ['v1.2.0'] }, /the tag v1\.2\.0 exists/],
  [
    'changes that are not committed',
    { status: ' M README.md' },
    /commit or remove these changes first:\n M README\.md/,
  ],
] as const) {
  t.test(title, async t => {
    const problems = releaseProblems({ ...agreed, ...change })
    t.equal(problems.length, 1, problems.join('\n'))
    t.match(problems[0], problem)
  })
}
