import { definePlugin } from 'tesser'

/** Rules that hold however many clients save at the same time, for four small models. */
export default definePlugin({
  name: 'tesser-example-rules',
  kernel: '^1.0.0',
  classes: ['library', 'stock', 'accounts', 'playlists'].map(name => new URL(`./${name}.ts`, import.meta.url)),
})
