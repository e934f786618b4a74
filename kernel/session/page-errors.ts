import { defineErrors } from '../../engine/index.ts'

/** Refusals of requests that a browser sends for a page of another site. */
export const PageErrors = defineErrors('PAGE', {
  OTHER_ORIGIN: {
    errCode: 1561,
    http: 403,
    message: (page: string) => `a page of ${page} may not do this; server.cors.origins names the origins that may`,
  },
  OTHER_HOST: {
    errCode: 1561,
    http: 403,
    message: (host: string) => `the host "${host}" is not one of this server; server.allowedHosts names its hosts`,
  },
})
