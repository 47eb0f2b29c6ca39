import { shellQuoted } from "../../../components/snippet-texts.ts";

/** The shortest call of the three APIs that creates a batch: its rows need no file. */
export function batchCall(baseUrl: string, model: string): string {
  const params = { model, max_tokens: 100, messages: [{ role: "user", content: "Hello" }] };
  const body = JSON.stringify({ requests: [{ custom_id: "first", params }] }, null, 2);
  return [
    `curl ${baseUrl.replace(/\/+$/, "")}/v1/messages/batches \\`,
    '  -H "x-api-key: $SLUICE_API_KEY" \\',
    '  -H "anthropic-version: 2023-06-01" \\',
    '  -H "content-type: application/json" \\',
    `  -d ${shellQuoted(body)}`,
  ].join("\n");
}
