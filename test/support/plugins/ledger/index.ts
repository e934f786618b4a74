import { definePlugin } from 'tesser'

/** Operations on accounts: their events run the programs that they hold. */
export default definePlugin({
  name: 'ledger',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
})
