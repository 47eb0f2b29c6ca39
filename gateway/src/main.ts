/**
 * main: builds the gateway from its modules, runs it and stops it in order. Only here ports are connected to their implementations.
 * `serve` runs the gateway; `openControl` opens the database and the vault for single commands.
 *
 * If the gateway cannot start, it prints the reason in one line and exits.
 */
export { CertificateUnusable, readCertificate } from "./main/certificate.ts";
export { configWarnings, kindCheck } from "./main/config-checks.ts";
export { type Control, networkOf, openControl, placeOf, webhookSecretOf } from "./main/control.ts";
export { readPriceListFrom } from "./main/price-list.ts";
export { listProcesses } from "./main/processes.ts";
export { serve, serveWorker, serveWorkers } from "./main/serve.ts";
