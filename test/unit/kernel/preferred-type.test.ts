import t from 'tap'
import { preferredType, prefersPage } from '../../../kernel/preferred-type.ts'

const TYPES = ['application/json', 'text/csv', 'application/x-ndjson'] as const

for (const [header, type] of [
  ['', 'application/json'],
  ['*/*', 'application/json'],
  ['text/csv', 'text/csv'],
  ['Text/CSV; header=present', 'text/csv'],
  ['text/csv; x="a,b;c";q=0.5, application/json; charset=utf-8; q=0.6', 'application/json'],
  ['text/csv;charset=utf-8;q=0', undefined],
  ['text/csv, */*', 'text/csv'],
  ['*/*, text/csv', 'text/csv'],
  ['text/csv, application/json', 'text/csv'],
  ['application/json, text/csv', 'application/json'],
  ['text/csv;q=0.5, application/json', 'application/json'],
  ['text/csv;q=0.5, application/json;q=0.4', 'text/csv'],
  ['text/csv;q=0.2, */*;q=0.1', 'text/csv'],
  ['text/csv;q=0', undefined],
  ['text/csv;q=0, */*', 'application/json'],
  ['application/json;q=0, */*', 'text/csv'],
  ['text/html, image/*', undefined],
  ['application/*', 'application/json'],
  ['nonsense', undefined],
  [';;q=x', undefined],
] as const) {
  t.test(`Accept: ${JSON.stringify(header)}`, async t => t.equal(preferredType(header, TYPES), type))
}

for (const [header, isPage] of [
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', true],
  ['text/html', true],
  ['application/json, text/html;q=0.9', false],
  ['text/html;q=0, application/json', false],
  ['text/html;q=0', false],
  ['*/*', false],
  ['', false],
] as const) {
  t.test(`a page for ${JSON.stringify(header)}`, async t => t.equal(prefersPage(header), isPage))
}
