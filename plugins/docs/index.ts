import { definePlugin } from '../../kernel/api.ts'

/**
 * The documents of this release as pages that can be searched, without a network:
 *
 *   GET /docs/
 *
 * They are made from the Markdown files of the repository when it is built (`pages.mjs`). Everybody may read them; nothing of
 * the store is in them. `disablePlugins: ["docs"]` leaves them out.
 */
export default definePlugin({
  name: 'docs',
  kernel: '^1.0.0',
  register: ({ assets }) => assets('/docs/', new URL('./pages/', import.meta.url)),
})
