import t from 'tap'
import { JSON_HEADERS, jsonHeaders, withContentHeaders } from '../../../../kernel/transport/content-headers.ts'

const PROTECTED = { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' }
const isolated = (headers: object) => ({
  ...headers,
  ...PROTECTED,
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
})

t.test('JSON is not sniffed, and not isolated', async t => {
  t.equal(withContentHeaders(JSON_HEADERS, true), JSON_HEADERS, 'the usual headers stay the same object')
  for (const type of ['application/json', 'application/JSON; charset=utf-8', 'application/problem+json']) {
    t.strictSame(withContentHeaders({ 'content-type': type }, true), { 'content-type': type, ...PROTECTED })
  }
})

t.test('any other body is isolated', async t => {
  for (const type of [
    'image/svg+xml',
    'text/html',
    'text/plain',
    'application/jsonp',
    'text/json',
    'application/xml',
  ]) {
    const headers = { 'Content-Type': type, ETag: '"1"' }
    t.strictSame(withContentHeaders(headers, true), isolated(headers), type)
  }
  t.strictSame(withContentHeaders(undefined, true), isolated({}), 'without a type a browser would guess')
  t.strictSame(withContentHeaders({ 'Content-Type': 'image/png' }, false), isolated({ 'Content-Type': 'image/png' }))
})

t.test('headers of the handler are kept', async t => {
  const headers = { 'content-type': 'text/html', 'content-security-policy': "default-src 'self'" }
  t.strictSame(withContentHeaders(headers, true), { ...headers, ...PROTECTED })
  const all = { ...headers, 'x-CONTENT-type-options': 'nosniff', 'cache-control': 'max-age=60' }
  t.equal(withContentHeaders(all, true), all)
})

t.test('an answer without a body needs no headers', async t => {
  t.strictSame(withContentHeaders({ Location: '/elsewhere' }, false), { Location: '/elsewhere' })
  t.equal(withContentHeaders(undefined, false), undefined)
})

t.test('a handler replaces headers of JSON by names in any case', async t => {
  t.equal(jsonHeaders(undefined), JSON_HEADERS)
  const replaced = jsonHeaders({ 'cache-control': 'max-age=60', 'X-More': '1' })
  t.strictSame(Object.keys(replaced).sort(), ['Content-Type', 'X-Content-Type-Options', 'X-More', 'cache-control'])
  t.equal(replaced['cache-control'], 'max-age=60')
})
