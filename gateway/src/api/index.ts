/**
 * api: the /v1 API. It authenticates a call, reads its body, passes it to the relay, and renders failures in the caller's dialect.
 * It decides nothing about upstreams.
 */

export { createAsKey } from "./as-key.ts";
export type { ApiDependencies, PeriodSpend } from "./dependencies.ts";
export { endpointsOf, untranslatedEndpointsOf } from "./endpoints/models.ts";
export { type ApiServer, type ServerCertificate, serveApi } from "./server.ts";
