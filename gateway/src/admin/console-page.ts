import type { StaticFile } from "#ports/index.ts";
import { consolePolicy } from "./security-headers.ts";

/** Stands in the built page where the answer's nonce goes. */
const placeholder = "{style-nonce}";

/**
 * The console's one page. Every answer has a nonce of its own, so it is never kept; what it loads has hashed names and is
 * kept for good.
 */
export function answerConsolePage(page: StaticFile, nonce: string): Response {
  const text = new TextDecoder().decode(page.bytes).replace(placeholder, nonce);
  return new Response(text, {
    headers: {
      "content-type": page.type,
      "content-security-policy": consolePolicy(nonce),
      "cache-control": "no-store",
    },
  });
}
