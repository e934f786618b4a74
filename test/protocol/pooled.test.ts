/**
 * Runs the tables about reading again, with every query in the pool.
 */
process.env.TESSER_TEST_SETTING = 'pool'
process.env.TESSER_TEST_TRANSPORT ??= 'node-http'
await import('./addresses.test.ts')
await import('./reading.test.ts')
await import('./filter.test.ts')
await import('./compute.test.ts')
