import { defineErrors, errorsWith } from '../../engine/index.ts'

/** Refusals of requests that a browser sends for a page of another site. */
export const PageErrors = defineErrors('PAGE', {
  ...errorsWith({ errCode: 1561, http: 403 })({
    OTHER_ORIGIN: (page: string) => `a page of ${page} may not do this; server.cors.origins names the origins that may`,
    OTHER_HOST: (host: string) => `the host "${host}" is not one of this server; server.allowedHosts names its hosts`,
  }),
})
