import type { DataClass } from '../base/catalog.ts'
import type { Preview } from './import-request.ts'
import { importTargets, type Mapping } from './mapping.ts'
import { text } from './texts.ts'

interface PreviewProps {
  readonly dataClass: DataClass
  readonly preview: Preview
  /** Undefined for files whose rows name the attributes themselves. */
  readonly mapping: Mapping | undefined
  readonly onChange: (mapping: Mapping) => void
}

/** The first rows of a file as the server reads them, below the attributes of its columns. */
export function PreviewTable({ dataClass, preview: { columns, rows }, mapping, onChange }: PreviewProps) {
  const hasErrors = rows.some(({ errors }) => errors.length > 0)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region has to be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={text('firstRows')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{text('line')}</th>
              {hasErrors && <th scope="col">{text('problem')}</th>}
              {columns.map(({ name, attribute }, at) => (
                <th key={at} scope="col">
                  <small>{name}</small>
                  {mapping ? (
                    <select
                      aria-label={text('attributeOf', { name })}
                      value={mapping[name] ?? ''}
                      onChange={({ currentTarget }) => onChange({ ...mapping, [name]: currentTarget.value || null })}
                    >
                      <option value="">{text('leftOut')}</option>
                      {importTargets(dataClass).map(target => (
                        <option key={target.name} value={target.name}>
                          {target.name}
                        </option>
                      ))}
                    </select>
                  ) : (
                    (attribute ?? text('noAttribute'))
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ line, cells, errors }, index) => (
              <tr key={index} class={errors.length > 0 ? 'wrong' : ''}>
                <th scope="row">{line}</th>
                {hasErrors && <td class="problem">{errors.join('; ')}</td>}
                {columns.map(({ attribute }, at) => (
                  <td key={at} class={attribute === null ? 'left-out' : ''}>
                    {cells[at]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <small>{text('previewed', { count: rows.length })}</small>
    </>
  )
}
