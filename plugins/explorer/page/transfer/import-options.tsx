import type { ImportOptions, Preview } from './import-request.ts'
import { text } from './texts.ts'

interface OptionProps {
  readonly options: ImportOptions
  readonly preview: Preview | undefined
  readonly onChange: (changes: Partial<ImportOptions>) => void
}

type Choices = readonly (readonly [value: string, label: string])[]

/** Options for reading the file. Rarely needed ones are folded away. */
export function ImportOptionFields({ options, preview, onChange }: OptionProps) {
  const isCsv = options.format === 'csv'
  const field = (name: keyof ImportOptions, choices: Choices) => (
    <label>
      {text(name)}{' '}
      <select value={options[name]} onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}>
        {choices.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
  const detectedDelimiter = preview?.delimiter === undefined ? '' : (DELIMITERS[preview.delimiter] ?? preview.delimiter)
  return (
    <>
      <div class="row">
        {field('existing', [
          ['reject', text('reject')],
          ['update', text('update')],
          ['skip', text('skip')],
        ])}
      </div>
      <details>
        <summary>{text('options')}</summary>
        <div class="row">
          {field('format', [
            ['csv', 'CSV'],
            ['ndjson', 'NDJSON'],
            ['json', 'JSON'],
          ])}
          {isCsv &&
            field('delimiter', [
              ['', `${text('found')} ${detectedDelimiter}`],
              [',', ','],
              [';', ';'],
              ['tab', text('tab')],
              ['|', '|'],
            ])}
          {field('decimal', [
            ['', text('asServer')],
            ['.', '1,234.5'],
            [',', '1.234,5'],
          ])}
          {field('dates', [
            ['', text('asServer')],
            ['ymd', '2026-12-31'],
            ['dmy', '31.12.2026'],
            ['mdy', '12/31/2026'],
          ])}
          {field('encoding', [
            ['', 'UTF-8'],
            ['windows-1252', 'Windows-1252'],
            ['iso-8859-2', 'ISO 8859-2'],
            ['utf-16le', 'UTF-16'],
          ])}
        </div>
      </details>
    </>
  )
}

const DELIMITERS: Readonly<Record<string, string>> = { '\t': '⇥' }
