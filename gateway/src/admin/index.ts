/**
 * admin: the control plane. Serves the console, the API reference, and the control API.
 *
 * Words: a static file comes through a port, this module never opens one; set-up is the making of the first
 * administrator with a one-time token.
 *
 * Promises: nothing here is needed to carry a call, and a fault here stops none. Every answer carries strict browser
 * headers; no page loads anything from elsewhere. What changes state takes JSON only (but for what a call as a key may
 * carry), and in a browser only from our own origin. When the files of the console are missing, the page says how to build
 * them and the rest works.
 */
export { createAdmin } from "./admin.ts";
export type { AdminConsole } from "./admin-options.ts";
export { NoticeSender } from "./budgets/notice-sender.ts";
export { NoticeWatch } from "./budgets/notice-watch.ts";
export { docsFiles } from "./docs-page.ts";
export type { ConfigFacts, ProcessFacts } from "./handlers/system-handlers.ts";

export { RequestTail } from "./tail/request-tail.ts";
