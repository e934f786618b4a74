/** Answers of functions of the plugin "staff", and the configuration that loads it. */
import { staffPlugin } from '../support/plugins/test-plugins.ts'

export const result = (value: unknown) => ({ result: value })
export const config = { plugins: [staffPlugin], functions: { threads: 1 } }
