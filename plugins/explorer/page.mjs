/** Generates the page of `/explorer/`. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { bundlePage } from '../../config/bundle-page.mjs'
import { collectTexts } from './texts.mjs'

/**
 * @param {URL} target folder of the page; it need not exist
 * @returns {Promise<string[]>} sources of its script
 */
export async function writeExplorer(target) {
  await mkdir(new URL('texts/', target), { recursive: true })
  const { script, preloads, style, sources } = await bundlePage(new URL('page/main.tsx', import.meta.url), target)
  const { en } = await collectTexts(new URL('page/', import.meta.url))
  await writeFile(new URL('texts/en.json', target), `${JSON.stringify(en, null, 2)}\n`)
  await copyFile(new URL('coast.json', import.meta.url), new URL('coast.json', target))
  await writeFile(
    new URL('index.html', target),
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tesser</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
${preloads.map(file => `<link rel="modulepreload" href="${file}">`).join('\n')}
<script type="module" src="${script}"></script>
</head>
<body>
<noscript>This page needs JavaScript. The documents at ../docs/ do not.</noscript>
</body>
</html>
`,
  )
  return sources
}
