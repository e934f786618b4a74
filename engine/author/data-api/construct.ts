/** Property of a class while it is instantiated: the argument for its base class. */
const GIVEN = Symbol('tesser.given')

type Constructible<T = object> = (new () => T) & { [GIVEN]?: unknown }

/** Makes an instance and passes an argument to the base class, whose constructor plugin code calls without arguments. */
export function construct<T extends object>(target: Constructible<T>, argument: object): T {
  const outer = target[GIVEN]
  target[GIVEN] = argument
  try {
    return new target()
  } finally {
    target[GIVEN] = outer
  }
}

/** Returns the argument to the constructor of the base class, once. @returns undefined: plugin code called the constructor */
export function takeArgument<A extends object>(target: Constructible): A | undefined {
  const argument = target[GIVEN] as A | undefined
  target[GIVEN] = undefined
  return argument
}
