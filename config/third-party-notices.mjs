import { readdir, readFile, writeFile } from 'node:fs/promises'

/** Folder of the package to which a source file belongs. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+\//
const LICENSE = /^(licen[cs]e|notice|copying)/i

/**
 * Writes the names and licences of the packages in a build, a condition of all their licences.
 * @param {URL} file
 * @param {URL} root folder that the sources are relative to
 * @param {readonly string[]} sources
 * @throws {Error} a package has no licence file
 */
export async function writeNotices(file, root, sources) {
  const folders = new Set(sources.flatMap(source => PACKAGE.exec(source)?.[0] ?? []))
  const notices = [...folders].sort().map(async folder => {
    const url = new URL(folder, root)
    const { name, version, license } = JSON.parse(await readFile(new URL('package.json', url), 'utf8'))
    const files = (await readdir(url)).filter(each => LICENSE.test(each)).sort()
    if (files.length === 0) throw new Error(`${folder} has no licence file; do not bundle it`)
    const texts = await Promise.all(files.map(each => readFile(new URL(each, url), 'utf8')))
    return [`${name} ${version} (${license})`, ...texts.map(text => text.trim())].join('\n\n')
  })
  await writeFile(file, `${(await Promise.all(notices)).join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
}
