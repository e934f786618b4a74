import t from 'tap'
import { returnToIn } from '../../../../plugins/oidc/return-to.ts'

const PUBLIC = 'https://data.example.com'

const TABLE: [path: string, isAccepted: boolean][] = [
  ['/data', true],
  ['/data/', true],
  ['/data/explorer/?a=/other#/b', true],
  ['/data?x', true],
  ['/data/a/../b', true],
  ['/data/a%2fb', true],
  ['/', false],
  ['/explorer/', false],
  ['/database', false],
  ['/Data/', false],
  ['/data/../other', false],
  ['/data/%2e%2e/x', false],
  ['/data/.%2E/x', false],
  ['/data/..%2fx', false],
  ['/data%2f..%2fx', false],
  ['/data/%2e%2e%5cx', false],
  ['/data/..', false],
  ['/other/../data/', true],
  ['//evil.example/data/', false],
]

t.test('with a base path a browser stays below it', t => {
  for (const [path, isAccepted] of TABLE) {
    const query = `returnTo=${encodeURIComponent(path)}`
    if (isAccepted) t.equal(returnToIn(query, '/data', PUBLIC), path, path)
    else
      t.throws(
        () => returnToIn(query, '/data', PUBLIC),
        { message: /a path of this server such as \/data\/explorer\// },
        path,
      )
  }
  t.equal(returnToIn('', '/data', PUBLIC), '/data/')
  t.equal(returnToIn('', '', PUBLIC), '/')
  t.end()
})
