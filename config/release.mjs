/**
 * `npm run release`: checks that version, changelog, security policy and references agree, and tags the commit with the notes of the
 * release. It publishes nothing.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim()
const read = file => readFileSync(file, 'utf8')

/** Contradictions between the documents of a release, each with what to do. */
export function releaseProblems({ version, changelog, security, tags, status }) {
  const problems = []
  const [, number, date] = /^## (\S+) \(([^)]+)\)/m.exec(changelog) ?? []
  const minor = version.split('.').slice(0, 2).join('.')
  if (number !== version)
    problems.push(`CHANGELOG.md begins with ${number}, package.json has ${version}: make them the same`)
  if (!/^\d{4}-\d\d-\d\d$/.test(date ?? ''))
    problems.push(`CHANGELOG.md: write the date of the release in place of "${date}"`)
  if (notesOf(changelog).length < 100) problems.push(`CHANGELOG.md: the section of ${version} says nothing`)
  if (!security.includes(`| ${minor} | yes |`))
    problems.push(`SECURITY.md: add a row for ${minor} to the table of versions`)
  if (tags.includes(`v${version}`)) problems.push(`the tag v${version} exists: choose the next version in package.json`)
  if (status !== '') problems.push(`commit or remove these changes first:\n${status}`)
  return problems
}

/** The first section of a changelog, without its heading. */
export const notesOf = changelog => changelog.split(/^## .*$/m)[1]?.trim() ?? ''

if (process.argv[1]?.endsWith('release.mjs')) {
  const { version } = JSON.parse(read('package.json'))
  const changelog = read('CHANGELOG.md')
  const found = releaseProblems({
    ...{ version, changelog, security: read('SECURITY.md') },
    tags: git('tag').split('\n'),
    status: git('status', '--porcelain'),
  })
  for (const problem of found) console.error(`release: ${problem}`)
  if (found.length > 0) process.exit(1)
  git(
    'tag',
    '--annotate',
    `v${version}`,
    '--cleanup=verbatim',
    '--message',
    `Tesser ${version}\n\n${notesOf(changelog)}`,
  )
  console.log(`v${version} is tagged. Publish it: git push origin v${version}, npm publish`)
}
