/** A number with its noun: `1 row`, `2 rows`. */
export const quantity = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
