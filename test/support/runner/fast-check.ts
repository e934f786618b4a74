import fc from 'fast-check'
import { seedOf } from './rounds.ts'

// By default, fast-check takes a fresh seed in every run.
fc.configureGlobal({ seed: seedOf() })

export default fc
