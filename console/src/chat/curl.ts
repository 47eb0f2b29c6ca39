import { chatBody, type Message } from "./chat-call.ts";

/** The same call for a terminal. The key is named, not shown: what is copied gets pasted into tickets. */
export function curlOf(origin: string, model: string, messages: readonly Message[]): string {
  const body = JSON.stringify(chatBody(model, messages));
  return [
    `curl -N ${origin}/v1/chat/completions \\`,
    '  -H "authorization: Bearer $SLUICE_API_KEY" \\',
    '  -H "content-type: application/json" \\',
    `  -d ${shellQuote(body)}`,
  ].join("\n");
}

/** Inside single quotes a shell reads nothing but the closing quote. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
