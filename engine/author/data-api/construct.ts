/** Property of a class while it is instantiated: the argument for its base class. */
const GIVEN = Symbol('tesser.given')

type Constructible<T = object> = (new () => T) & { [GIVEN]?: unknown }

/** Makes an instance and passes an argument to the base class, whose constructor plugin code calls without arguments. */
export function construct<T extends object>(made: Constructible<T>, argument: object): T {
  const outer = made[GIVEN]
  made[GIVEN] = argument
  try {
    return new made()
  } finally {
    made[GIVEN] = outer
  }
}

/** Returns the argument to the constructor of the base class, once. @returns undefined: plugin code called the constructor */
export function takeArgument<A extends object>(made: Constructible): A | undefined {
  const argument = made[GIVEN] as A | undefined
  made[GIVEN] = undefined
  return argument
}
