/** A name that is not taken: the wanted one, or the first of those with a number from 2 on. @param separator before the number */
export function freeName(wanted: string, isTaken: (name: string) => boolean, separator = ''): string {
  for (let name = wanted, number = 2; ; name = `${wanted}${separator}${number++}`) if (!isTaken(name)) return name
}
