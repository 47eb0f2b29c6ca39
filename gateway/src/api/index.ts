/**
 * api: the /v1 API. Endpoint table, body reading, answering; failures are rendered here, in the caller's dialect.
 * It decides nothing about upstreams: a call is authenticated, read, and handed to the relay.
 */

export { createAsKey } from "./as-key.ts";
export { AskRate } from "./ask-rate.ts";
export type { ApiDependencies, PeriodSpend } from "./dependencies.ts";
export { endpointsOf, untranslatedEndpointsOf } from "./endpoints/models.ts";
export { type ApiServer, type ServerCertificate, serveApi } from "./server.ts";
