/**
 * Runs the tests in `test/house`, which read only sources and documents and need no build of the product. Exit code 1 when
 * one fails.
 */
import { readdirSync } from 'node:fs'
import { build } from 'esbuild'
import { runTestFile } from './support/runner/run-test-file.mjs'
import { failedCasesOf } from './support/runner/tap-output.mjs'

const names = readdirSync('test/house').filter(name => name.endsWith('.test.ts'))
await build({
  entryPoints: names.map(name => `test/house/${name}`),
  outdir: 'dist-house',
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  sourcemap: true,
})
for (const name of names) {
  const { status, output } = await runTestFile(`dist-house/${name.replace(/ts$/, 'js')}`)
  if (status === 0) continue
  process.exitCode = 1
  console.log(`test/house/${name} failed\n${failedCasesOf(output).join('\n')}`)
}
