/** Formats of files of rows. */
export type FileFormat = 'csv' | 'ndjson' | 'json'

/** Format of a file by its name; CSV if the name does not tell. */
export function formatOf(name: string): FileFormat {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase()
  return ending === 'json' ? 'json' : ending === 'ndjson' || ending === 'jsonl' ? 'ndjson' : 'csv'
}

/** True for files that are packed, or are of spreadsheets and databases: the server would read them as text. */
export const isForeign = (name: string): boolean => /\.(?:gz|zst|zip|xls[xm]?|ods|numbers|parquet|sqlite)$/i.test(name)
