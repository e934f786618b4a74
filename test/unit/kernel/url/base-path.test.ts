import t from 'tap'
import { withoutBasePath } from '../../../../kernel/url/base-path.ts'

t.test('a base path is removed once, and not from routes that begin with it', async t => {
  const routes = { servesBelow: (_: string, path: string) => path === '/shop/page' }
  for (const [path, expected] of [
    ['/shop/rest/Person(1)', '/rest/Person(1)'],
    ['/shop//rest/Person', '//rest/Person'],
    ['/shop/rest/shop', '/rest/shop'],
    ['/shop', '/'],
    ['/shop/', '/'],
    ['/shop/shop/page', '/shop/page'],
    ['/shop/shop/rest', '/shop/rest'],
    ['/shop/page', '/shop/page'],
    ['/rest/shop/rest', '/rest/shop/rest'],
    ['/shopping/rest', '/shopping/rest'],
    ['/SHOP/rest', '/SHOP/rest'],
    ['/', '/'],
  ] as const) {
    t.equal(withoutBasePath(path, '/shop', routes), expected, path)
  }
})
