import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { definePlugin, Type } from '../../kernel/api.ts'

/**
 * An app of your own, as its bundler has built it, beside the data that it shows:
 *
 *   "plugins": [{ "plugin": "tesser/plugins/site", "options": { "folder": "./web/dist" } }]
 *
 *   GET /app/                →  index.html
 *   GET /app/assets/main.js  →  the file
 *   GET /app/orders/17       →  index.html, for a browser that opens a page; 404 for everything else
 *
 * `folder` starts at the folder of the config file. Its files are read at the start (64 MiB at most); a new version of the app
 * is served after a restart. `path` is where it is served, `/` for all of the server: `/rest`, `/explorer/` and the addresses of
 * other plugins stay theirs. The app has to be built for this path, with `server.basePath` in front (`base` of Vite). With
 * `"fallback": false` unknown paths are 404 for browsers, too. `policy` is the `Content-Security-Policy` of all files, by default
 * scripts, styles, images and data of this server alone, nothing inline. Everybody may read the files: they hold no secrets.
 */
export default definePlugin({
  name: 'site',
  kernel: '^1.0.0',
  options: Type.Object({
    folder: Type.String({ minLength: 1 }),
    path: Type.String({ default: '/app/', pattern: '^/(?!rest/)(?:(?!\\.{1,2}/)[A-Za-z0-9._~-]+/)*$' }),
    fallback: Type.Boolean({ default: true }),
    policy: Type.Optional(Type.String({ pattern: '^[ -~]+$' })),
  }),
  register: ({ assets, configFolder }, { folder, path, fallback, policy }) =>
    assets(path as '/', pathToFileURL(`${resolve(configFolder, folder)}/`), { fallback, policy }),
})
