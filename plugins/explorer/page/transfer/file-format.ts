/** Formats of files of rows. */
export type FileFormat = 'csv' | 'ndjson' | 'json'

/** Format of a file according to its name; CSV by default. */
export function formatOf(name: string): FileFormat {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase()
  return ending === 'json' ? 'json' : ending === 'ndjson' || ending === 'jsonl' ? 'ndjson' : 'csv'
}

/** True for compressed files and files of spreadsheets or databases, which the server would read as text. */
export const isForeign = (name: string): boolean => /\.(?:gz|zst|zip|xls[xm]?|ods|numbers|parquet|sqlite)$/i.test(name)
