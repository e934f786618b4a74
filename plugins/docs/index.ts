import { definePlugin } from '../../kernel/api.ts'

/**
 * The documents of this release as searchable pages, without a network:
 *
 *   GET /docs/
 *
 * They are generated from the Markdown files of the repository when it is built (`pages.mjs`). Every caller may read them; they contain
 * nothing of the store. `disablePlugins: ["docs"]` leaves them out.
 */
export default definePlugin({
  name: 'docs',
  kernel: '^1.0.0',
  register: ({ assets }) =>
    assets('/docs/', new URL('./pages/', import.meta.url), {
      doc: 'The documents of this release as pages with a search; their files are under this path.',
    }),
})
