/** A name that is not taken: the preferred one, or the first free one with a number from 2 on. @param separator before the number */
export function freeName(preferredName: string, isTaken: (name: string) => boolean, separator = ''): string {
  for (let name = preferredName, number = 2; ; name = `${preferredName}${separator}${number++}`)
    if (!isTaken(name)) return name
}
