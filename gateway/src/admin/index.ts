/**
 * admin: the control plane. Serves the console, the API reference and the admin API. The data plane does not depend on this module, and a
 * failure here stops no model call. Every answer has strict browser headers, and no page loads anything from another site. Calls that
 * change state accept only JSON and, from a browser, only our own origin; calls made with a key accept what the called endpoint accepts.
 */
export { createAdmin } from "./admin.ts";
export type { ConfigFacts, LedgerExportFacts, ProcessNumbers } from "./dependencies.ts";
export { focusCatalogue } from "./models/focus-catalogue.ts";
export { priceListView } from "./models/price-list-reading.ts";

export { reportReader } from "./scheduled-reports/report-reader.ts";
export { RequestTail } from "./tail/request-tail.ts";
