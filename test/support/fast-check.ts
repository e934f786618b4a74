import fc from 'fast-check'
import { givenSeed } from './reference/rounds.ts'

// fast-check takes a fresh seed by itself and prints it with a failure; this repeats it.
if (givenSeed !== undefined) fc.configureGlobal({ seed: givenSeed })

export default fc
