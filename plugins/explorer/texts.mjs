import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/**
 * Collects all texts of the page, from the dictionaries of its rooms.
 * @param {URL} page folder of the sources
 * @returns {Promise<Record<'en' | 'de', Record<string, string | { one: string, other: string }>>>}
 */
export async function collectTexts(page) {
  const files = (await readdir(page, { recursive: true })).filter(file => /(^|[/-])texts\.ts$/.test(file)).sort()
  const imports = files.map(file => `import './${file}'`).join('\n')
  const { outputFiles } = await build({
    stdin: { contents: `${imports}\nexport { builtIn } from './base/texts.ts'`, resolveDir: fileURLToPath(page) },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
  })
  const { builtIn } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
  )
  return builtIn
}
