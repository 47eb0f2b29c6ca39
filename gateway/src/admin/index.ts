/**
 * admin: the control plane. Serves the console, the API reference and the admin API.
 *
 * Static files come through a port; this module opens none. Set-up makes the first administrator with a one-time token.
 *
 * Promises: calls of the data plane need nothing of this module, and a fault here stops none of them. Every answer has
 * strict browser headers. No page loads anything from another site. Calls that change state take only JSON, except calls
 * as a key, which take what the called endpoint takes; from a browser they are accepted only from our own origin. When the
 * files of the console are missing, its page says how to build them, and the rest works.
 */
export { createAdmin } from "./admin.ts";
export { NoticeSender, NoticeWatch } from "./budgets/notices.ts";
export type { ConfigFacts, LedgerExportFacts, ProcessNumbers } from "./dependencies.ts";
export { priceListView } from "./models/price-list-reading.ts";
export { docsFiles } from "./pages.ts";

export { RequestTail } from "./tail/request-tail.ts";
