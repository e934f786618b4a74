/** On a class while an instance of it is made: the argument of its base class. */
const GIVEN = Symbol('tesser.given')

type Constructible<T = object> = (new () => T) & { [GIVEN]?: unknown }

/** Makes an instance and hands an argument to the base class, whose constructor plugin code calls without any. */
export function construct<T extends object>(made: Constructible<T>, argument: object): T {
  const outer = made[GIVEN]
  made[GIVEN] = argument
  try {
    return new made()
  } finally {
    made[GIVEN] = outer
  }
}

/** The argument, for the constructor of the base class, once. @returns undefined: plugin code has called the constructor */
export function takeArgument<A extends object>(made: Constructible): A | undefined {
  const argument = made[GIVEN] as A | undefined
  made[GIVEN] = undefined
  return argument
}
