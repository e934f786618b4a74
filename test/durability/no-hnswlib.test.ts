/** A server that cannot load the library of its indexes. */
import t from 'tap'
import { randomOf } from '../support/base/random.ts'
import { referenceAnswer, type VectorQuestion } from '../support/reference/vectors.ts'
import { VectorServer, VectorSource, writeFiles } from './vectors.model.ts'

/** Options of Node.js with which no thread can import a module. */
function without(name: string): string[] {
  const module = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`
  const hooks = module(`
    export const resolve = (specifier, context, next) => {
      if (specifier === '${name}') {
        throw Object.assign(new Error('Cannot find package ${name}'), { code: 'ERR_MODULE_NOT_FOUND' })
      }
      return next(specifier, context)
    }`)
  return ['--import', module(`import { register } from 'node:module'; register(${JSON.stringify(hooks)})`)]
}

t.test('without hnswlib-node the server starts, reports it, and gives the same answers', async t => {
  const metric = 'cosine'
  const folder = t.testdir({})
  writeFiles(folder, metric)
  const source = new VectorSource(randomOf(5))
  const rows = new Map(Array.from({ length: 800 }, (_, ID) => [ID, { ID, group: ID % 10, embedding: source.value() }]))
  const withIt = new VectorServer(folder)
  await withIt.start()
  await withIt.post('/Item?$method=update', { __ENTITIES: [...rows.values()] })
  t.ok(await withIt.indexReady(metric), 'otherwise an index would be used')
  await withIt.stop()
  t.match(withIt.output, /the index of Item\.embedding is ready/)

  const server = new VectorServer(folder, without('hnswlib-node'))
  await server.start()
  for (let i = 0; i < 30; i++) {
    const question: VectorQuestion = {
      vector: source.vector(),
      metric,
      comparator: '>',
      threshold: i % 3 ? null : 0.97,
    }
    const expected = referenceAnswer(question, rows)
    const { keys, count, usesIndex } = await server.ask({
      $filter: 'embedding > :1',
      $params: [question].map(({ vector, threshold }) => ({ vector, threshold })),
      $orderby: 'embedding desc, ID',
      $top: 20,
    })
    t.same(keys, expected.slice(0, 20))
    t.equal(count, expected.length)
    t.notOk(usesIndex)
  }
  await server.stop()
  t.match(
    server.output,
    /hnswlib-node cannot be loaded \(Cannot find package hnswlib-node\): .* without an index, .*; npm install hnswlib-node builds it/,
  )
})
