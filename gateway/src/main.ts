/**
 * main: builds the gateway from its modules, runs it, and stops it in order. It is the only place that connects modules to
 * the implementations of their ports. `serve` runs the gateway; `openControl` opens only the database and the vault, for
 * single commands.
 *
 * When the gateway cannot start, it says why in one line and exits.
 */
export { CertificateUnusable, readCertificate } from "./main/certificate.ts";
export { configWarnings } from "./main/config-warnings.ts";
export { type Control, openControl, placeOf } from "./main/control.ts";
export { kindCheck } from "./main/kind-check.ts";
export { networkOf } from "./main/network.ts";
export { readPriceListFrom } from "./main/price-list-source.ts";
export { listProcesses } from "./main/processes.ts";
export { type ServeOptions, serve, serveWorker } from "./main/serve.ts";
export { serveWorkers } from "./main/serve-workers.ts";
export { webhookSecretOf } from "./main/webhook-secret.ts";
