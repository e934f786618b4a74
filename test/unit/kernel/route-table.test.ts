import t from 'tap'
import { json, type Scope } from '../../../kernel/api.ts'
import { hasParameters, pathParameters, RouteTable, shapeOf } from '../../../kernel/route-table.ts'

/** Pattern and values of the route that a path matches; undefined for none. */
const matching = (patterns: readonly string[]) => {
  const table = new RouteTable(patterns.map(path => ({ path })))
  return (path: string): [string, object] | undefined => {
    const matched = table.find(path)
    return matched && [matched.route.path, { ...pathParameters(matched) }]
  }
}

t.test('exact segments come before parameters, parameters before the rest, in any order of registration', async t => {
  const patterns = [
    ...['/hooks/:source', '/hooks/github/:event', '/hooks/:source/:event', '/a/:x/c', '/a/b/:y', '/a/*rest'],
    ...['/files/*path', '/:top/only', '/end/:x/'],
  ]
  const cases: [path: string, expected: [string, object] | undefined][] = [
    ['/hooks/stripe', ['/hooks/:source', { source: 'stripe' }]],
    ['/hooks/github/push', ['/hooks/github/:event', { event: 'push' }]],
    ['/hooks/gitlab/push', ['/hooks/:source/:event', { source: 'gitlab', event: 'push' }]],
    ['/hooks/github', ['/hooks/:source', { source: 'github' }]],
    ['/a/b/c', ['/a/b/:y', { y: 'c' }]],
    ['/a/z/c', ['/a/:x/c', { x: 'z' }]],
    ['/a/b', ['/a/*rest', { rest: 'b' }]],
    ['/a/z/d', ['/a/*rest', { rest: 'z/d' }]],
    ['/files/a/b.txt', ['/files/*path', { path: 'a/b.txt' }]],
    ['/x/only', ['/:top/only', { top: 'x' }]],
    ['/end/1/', ['/end/:x/', { x: '1' }]],
    ['/hooks/a%20b', ['/hooks/:source', { source: 'a b' }]],
    ['/hooks/%C3%BC', ['/hooks/:source', { source: 'ü' }]],
    ['/hooks/a+b%2Bc', ['/hooks/:source', { source: 'a+b+c' }]],
    ['/hooks/a..b', ['/hooks/:source', { source: 'a..b' }]],
    ['/hooks/...', ['/hooks/:source', { source: '...' }]],
    ['/hooks/:source', ['/hooks/:source', { source: ':source' }]],
    ['/hooks/__proto__', ['/hooks/:source', { source: '__proto__' }]],
    ['/hooks/x;v=1', ['/hooks/:source', { source: 'x;v=1' }]],
    ['/hooks/', undefined],
    ['/hooks', undefined],
    ['/hooks//push', undefined],
    ['//hooks/stripe', undefined],
    ['/hooks/a/b/c', undefined],
    ['/hooks/stripe/', undefined],
    ['/HOOKS/stripe', undefined],
    ['/%68ooks/stripe', undefined],
    ['/files/', undefined],
    ['/files//etc/passwd', undefined],
    ['/files/a/', undefined],
    ['/end/1', undefined],
    ['/constructor', undefined],
    ['/', undefined],
    ['', undefined],
  ]
  for (const order of [patterns, patterns.toReversed()]) {
    const match = matching(order)
    for (const [path, expected] of cases) t.strictSame(match(path), expected, path)
  }
  t.equal(matching([])('/x'), undefined)
})

t.test('no value leads out of a folder or hides a segment', async t => {
  const match = matching(['/hooks/:source', '/files/*path'])
  const refused = [
    '%2F',
    '%5c',
    '%00',
    '%0D%0A',
    '%7F',
    '..',
    '.',
    '%2e%2E',
    '%2e',
    '..%2F..%2Fetc',
    'a%2Fb',
    '%FF',
    '%',
    '%E0%A4',
  ]
  for (const segment of refused) {
    for (const path of [`/hooks/${segment}`, `/files/${segment}`, `/files/a/${segment}/b`]) {
      t.throws(() => match(path), { name: /^URL\./, httpStatus: 400 } as { name: RegExp }, path)
    }
  }
  const long = 'x'.repeat(60_000)
  t.strictSame(match(`/hooks/${long}`), ['/hooks/:source', { source: long }])
  t.throws(() => match(`/hooks/${'%FF'.repeat(20_000)}`), { message: /^.{1,250}$/ })
  t.strictSame(match(`/files${'/a'.repeat(30_000)}`)?.[0], '/files/*path')
})

t.test('paths that cannot be used are refused', async t => {
  const cases: [string, RegExp | string][] = [
    ['/a/:id/b', '/a/:/b'],
    ['/a/:other/b', '/a/:/b'],
    ['/a/*rest', '/a/*'],
    ['/a/:', /without a usable name/],
    ['/a/*', /without a usable name/],
    ['/a/:x-y', /without a usable name/],
    ['/a/:1', /without a usable name/],
    ['/a/:x/b/:x', /two parameters of one name/],
    ['/a/*rest/b', /behind a \*name/],
  ]
  for (const [path, expected] of cases) {
    if (typeof expected === 'string') t.equal(shapeOf(path), expected, path)
    else t.throws(() => shapeOf(path), { message: expected }, path)
  }
  t.strictSame(['/a/:x', '/a/*x', '/a:x', '/a*', '/a'].map(hasParameters), [true, true, false, false, false])
})

t.test('the compiler knows the parameters of a path', async t => {
  const registering = (scope: Scope, path: `/${string}`): void => {
    scope.route('/a/:id/b/*rest', { verbs: ['GET'] }, ({ pathParameters: { id, rest } }) => json(id.concat(rest)))
    scope.route(path, { verbs: ['GET'] }, ({ pathParameters }) => json(pathParameters.any))
    // @ts-expect-error: there is no such parameter
    scope.route('/a/:id', { verbs: ['GET'] }, ({ pathParameters }) => json(pathParameters.name))
    // @ts-expect-error: there is none
    scope.route('/a/b', { verbs: ['GET'] }, ({ pathParameters }) => json(pathParameters.name))
  }
  t.ok(registering)
})
