/** `tesser clone` from Tesser, and from a server that answers as 4D does. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bytesOf } from '../../../engine/index.ts'
import { allOf, runClone, same, withEngine } from '../../support/commands/server-clones.ts'
import { company } from '../../support/fixtures/company.ts'
import { fourDShop } from '../../support/fixtures/four-d-shop.ts'
import { startFourD } from '../../support/services/four-d-server.ts'
import { timeoutMs } from '../../support/runner/rounds.ts'
import { startServer } from '../../support/servers/test-server.ts'

t.setTimeout(timeoutMs)

t.test('a 4D server, with all that its catalog does not show', async t => {
  const server = await startFourD(t, fourDShop({ books: 600 }))
  const cwd = t.testdir({})
  const { isComplete, lines, text } = await runClone(cwd, { server: server.url })
  t.ok(isComplete)
  t.comment(text)
  for (const line of [
    'functions are not copied: Author.greet',
    'Author.favourite: the catalog shows no foreign key; the private attribute favouriteID holds it',
    'Book.author: the catalog shows no foreign key; the private attribute authorID holds it',
    'Book.publisher has the foreign key Publisher_ID, by its values',
    'Book.secretName is left out: the catalog does not show the path of the alias',
    'Book.label is left out: it is calculated by code; --keep-calculated stores its current values',
    'Book.strange is left out: "geometry" is not a known type',
    'Loan.number, its key, is not in the catalog: it becomes an attribute of type long64',
    'Book: 600 entities, all keys and stamps match the server',
  ])
    t.ok(lines.includes(line), line)
  t.match(text, /Loan\.book is left out of the model: it is a new relation, .*"ISBN lost"/)
  t.match(text, /Loan\.title is left out of the model: its relation is left out/)
  t.ok(server.mostAtOnce <= 2, `${server.mostAtOnce} requests at once`)
  await same(t, cwd, server)
  const model = JSON.parse(readFileSync(join(cwd, 'model.json'), 'utf8'))
  t.match(model.dataClasses.Book.attributes, {
    published: { type: 'date', simpleDate: true },
    price: { defaultFormat: { format: '###,##0.00' } },
    authorID: { type: 'long', scope: 'private' },
    author: { kind: 'relatedEntity', type: 'Author', foreignKey: 'authorID', inverseName: 'books' },
    publisher: { foreignKey: 'Publisher_ID' },
    authorName: { kind: 'alias', path: 'author.name' },
  })
  t.strictSame(Object.keys(model.dataClasses.Loan.attributes), ['reader', 'bookISBN', 'number'])
  t.notMatch(JSON.stringify(model), 'sourceStamp')
  await withEngine(cwd, async engine => {
    const find = async (dataClass: string, filter: string): Promise<number> => {
      const request = {
        dataClass,
        source: { kind: 'all' },
        filter,
        skip: 0,
        top: 0,
        output: { form: 'collection' },
      } as const
      return JSON.parse(Buffer.from(await bytesOf(await engine.queries.read(request))).toString()).__COUNT
    }
    t.equal(await find('Book', 'author.name="Author 3"'), 15)
    t.equal(await find('Author', 'favourite=null'), 8)
    t.equal(await find('Author', 'favourite.publisher.name="Publisher 1"'), 11)
  })
  await t.rejects(runClone(cwd, { server: server.url }), {
    message: /store is not empty; a clone needs an empty folder/,
  })
})

t.test('Tesser, with every type of value', async t => {
  const fixture = {
    model: {
      name: 'all',
      dataClasses: {
        ...(company.model as { dataClasses: object }).dataClasses,
        Price: {
          key: 'rate',
          attributes: {
            rate: { type: 'decimal', scale: 2 },
            exact: { type: 'decimal', scale: 18, asText: true, indexed: true },
            embedding: { type: 'vector', dimension: 3 },
            at: { type: 'date', indexed: true },
          },
        },
      },
    },
    rows: {
      ...company.rows,
      Price: [
        { rate: 0.1, exact: '0.123456789012345678', embedding: [0.5, 1, -2], at: '2020-01-31T13:23:00.001Z' },
        { rate: -12.5, exact: null, embedding: null, at: null },
      ],
    },
  }
  const source = await startServer(t, fixture)
  const cwd = t.testdir({})
  const { isComplete, text } = await runClone(cwd, { server: source.url, keepCalculated: true })
  t.ok(isComplete, text)
  const model = JSON.parse(readFileSync(join(cwd, 'model.json'), 'utf8'))
  const copy = await startServer(t, { model, rows: {} }, { folder: cwd })
  const names = (await source.get('/$catalog')).json.dataClass.map(({ name }: { name: string }) => name)
  t.strictSame(
    (await copy.get('/$catalog')).json.dataClass.map(({ name }: { name: string }) => name),
    names,
  )
  const plain = (text: string): string => text.replace(/"__(STAMP|GlobalStamp)":\d+|\$version=\d+/g, '')
  for (const name of names) {
    const rows = `/${name}?$asArray=true&$top=1000&$orderby="${model.dataClasses[name].key}"`
    t.equal(plain((await copy.get(rows)).text), plain((await source.get(rows)).text), name)
  }
  for (const path of ['/Employee(1)/photo?$imageformat=best', '/Company(1)/contract?$binary=true'])
    t.strictSame((await copy.get(path)).bytes, (await source.get(path)).bytes, path)
  for (const filter of ['/Employee?$filter="employerName=a@"', '/Company?$filter="staff.salary>0"'])
    t.equal((await copy.get(filter)).json.__COUNT, (await source.get(filter)).json.__COUNT, filter)
  t.match(model.dataClasses.Company.attributes, {
    name: { indexed: true, mandatory: true, maxLength: 40 },
    code: { unique: true, pattern: '[A-Z]{2}/[0-9]+' },
    ID: { autoFill: 'increment' },
  })
  const added = await copy.post('/Employee?$method=update', { lastName: 'New' })
  t.equal(
    added.json.ID,
    (await source.post('/Employee?$method=update', { lastName: 'New' })).json.ID,
    'numbers continue',
  )
})

const small = () => fourDShop({ books: 150 })
const pages = /^Book\/.*\$entityset\//

t.test('a server that changes meanwhile', async t => {
  const server = await startFourD(t, small())
  let count = 0
  server.hook = path => {
    if (!/\$entityset/.test(path) || count > 24) return false
    const i = count++ % 8
    server.put('Book', { isbn: `ISBN new ${count}`, title: `new ${count}` })
    server.put('Book', { isbn: `ISBN ${i * 3}`, title: `changed ${count}` })
    server.remove('Book', `ISBN ${100 + count}`)
    server.remove('Publisher', 'x')
    server.put('Empty', { ID: count })
    return false
  }
  const cwd = t.testdir({})
  const { isComplete, text } = await runClone(cwd, { server: server.url })
  t.ok(isComplete)
  t.match(text, /changed meanwhile: \d+ entities added, \d+ changed, \d+ removed/)
  t.equal(count, 25)
  await same(t, cwd, server)
})

t.test('a server that never stops changing', async t => {
  const server = await startFourD(t, small())
  let count = 0
  server.hook = path => {
    if (pages.test(path)) server.put('Book', { isbn: 'ISBN 1', title: `changed ${++count}` })
    return false
  }
  const cwd = t.testdir({})
  await t.rejects(runClone(cwd, { server: server.url, passes: 3 }), {
    message: 'the server has changed during each of 3 comparisons; --passes allows more; --resume continues',
  })
  server.hook = () => false
  t.ok((await runClone(cwd, { server: server.url, resume: true })).isComplete)
  await same(t, cwd, server)
})

t.test('entity sets that end', async t => {
  const server = await startFourD(t, small())
  server.hook = (path, _, response) => {
    if (!/,.*\$top=\d{3,}/.test(path)) return false
    response.writeHead(413).end()
    return true
  }
  server.setLife = 3
  const cwd = t.testdir({})
  // Pages of a quarter of the size, again and again.
  t.ok((await runClone(cwd, { server: server.url })).isComplete)
  await same(t, cwd, server)
  t.ok(server.requests.filter(path => path.startsWith('Book?') && path.includes('method=entityset')).length > 2)

  server.setLife = 0
  await t.rejects(runClone(join(cwd, 'other'), { server: server.url }), {
    message:
      /^Author: the server ends entity sets before they can be read: .*status 404: Error code: 1802 \(1802\); --resume continues$/,
  })
})

t.test('a login, also after the session has ended', async t => {
  const server = await startFourD(t, small(), { users: { ada: 'hunter2', zoë: 'geheim €' }, authentify: 'authentify' })
  await t.rejects(runClone(t.testdir({}), { server: server.url }), {
    message: /answers with status 401: Error code: 1557 \(1557\)$/,
  })
  const credentials = { user: 'ada', password: 'wrong' }
  await t.rejects(runClone(t.testdir({}), { server: server.url, credentials }), {
    message: /^ada cannot log in: the server refuses the name or the password$/,
  })
  let count = 0
  server.hook = (path, _, response) => {
    if (path.includes('login') || ++count % 10 !== 0) return false
    response.writeHead(401).end()
    return true
  }
  const cwd = t.testdir({})
  const found = await runClone(cwd, { server: server.url, credentials: { user: 'ada', password: 'hunter2' } })
  t.ok(found.isComplete)
  t.notMatch(found.text + readFileSync(join(cwd, 'model.json'), 'utf8'), 'hunter2')
  t.ok(server.requests.filter(path => path === '$directory/login').length > 2)
  const byFunction = { user: 'zoë', password: 'geheim €', loginFunction: 'authentify' }
  t.ok((await runClone(join(cwd, 'b'), { server: server.url, credentials: byFunction })).isComplete)
})

t.test('options and addresses that cannot be used', async t => {
  const cwd = t.testdir({ 'model.json': '{}' })
  await t.rejects(runClone(cwd, { server: 'a.example' }), { message: /^"a\.example" is not an address such as/ })
  const server = 'http://127.0.0.1:1'
  await t.rejects(runClone(cwd, { server }), {
    message: /model\.json already exists; a clone creates a new model file/,
  })
  await t.rejects(runClone(cwd, { server, resume: true }), { message: /there is nothing to resume/ })
  await t.rejects(runClone(t.testdir({}), { server, headers: ['nonsense'] }), { message: /^--header: give a name/ })
  await t.rejects(runClone(t.testdir({}), { server }), { message: /cannot be read: .*; 7 tries failed$/ })
})

t.test('dangling foreign keys become null, if that is asked for', async t => {
  const server = await startFourD(t, small())
  const cwd = t.testdir({})
  const { text } = await runClone(cwd, { server: server.url, dangling: 'null' })
  t.notMatch(text, 'Loan.book is left out')
  await withEngine(cwd, async engine => {
    const loans = await allOf(engine, 'Loan')
    t.strictSame(
      loans.filter(({ bookISBN }) => bookISBN === null).map(({ number }) => number),
      [107],
    )
  })
})

t.test('entities that the model cannot have are said', async t => {
  const classes = small()
  const server = await startFourD(t, classes)
  server.put('Book', { isbn: 'ISBN 5', pages: 1e9 })
  const cwd = t.testdir({})
  const { isComplete, text } = await runClone(cwd, { server: server.url })
  t.notOk(isComplete)
  t.match(text, /Book: 1 entity cannot be saved, such as ISBN 5: .*pages/)
})

t.test('a stop continues later', async t => {
  const server = await startFourD(t, small())
  const stop = new AbortController()
  server.hook = path => {
    if (pages.test(path)) stop.abort()
    return false
  }
  const cwd = t.testdir({})
  await t.rejects(runClone(cwd, { server: server.url }, stop.signal), { message: 'stopped; --resume continues' })
  t.ok((await runClone(cwd, { server: server.url, resume: true })).isComplete)
  await same(t, cwd, server)
})
