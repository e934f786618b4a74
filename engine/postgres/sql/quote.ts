/** SQL of a name, each part quoted. */
export const quoteName = (...parts: readonly string[]): string =>
  parts.map(part => `"${part.replaceAll('"', '""')}"`).join('.')
