/** Maximum number of values in a message. */
const MAX_VALUES = 20

/** `"sad", "happy"`: the first values of a list in a message, followed by `…` if there are more. */
export const quotedList = (values: readonly string[]): string =>
  values
    .slice(0, MAX_VALUES)
    .map(value => JSON.stringify(value))
    .join(', ') + (values.length > MAX_VALUES ? ', …' : '')
