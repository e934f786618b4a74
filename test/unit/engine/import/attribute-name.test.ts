import t from 'tap'
import { nameProblem } from '../../../../engine/catalog/names.ts'
import { attributeName } from '../../../../engine/import/attribute-name.ts'
import fc from '../../../support/runner/fast-check.ts'

const NAMES: readonly (readonly [string, string])[] = [
  ['Birth date', 'birthDate'],
  ['birth_date', 'birth_date'],
  ['Birth_Date', 'birthDate'],
  ['BIRTH DATE', 'birthDate'],
  ['Name', 'name'],
  ['NAME', 'name'],
  ['ID', 'ID'],
  ['VAT number', 'VATNumber'],
  ['birthDate', 'birthDate'],
  ['E-mail (private)', 'eMailPrivate'],
  ['  size  ', 'size'],
  ['2nd name', '_2ndName'],
  ['and', 'andValue'],
  ['__KEY', 'KEY'],
  ['Ö', 'ö'],
  ['N', 'n'],
  ['Größe', 'größe'],
  ['€', ''],
  ['', ''],
]

t.test('headers', async t => {
  for (const [header, name] of NAMES) t.equal(attributeName(header), name, header)
})

t.test('whatever the header is, the name can be used', async t => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), header => {
      const name = attributeName(header)
      if (name === '') return
      t.equal(nameProblem(name), undefined, header)
    }),
    { numRuns: 500 },
  )
})
