import { createHmac } from "node:crypto";
import { remarkSentence } from "@sluice/contract/words";
import { asFailure } from "#core/index.ts";

/**
 * Why a message did not arrive, for whoever chose its address. All that keeps a connection from standing is told alike:
 * whether a name exists, and whether it leads into our own network, is none of their business.
 */
export function webhookProblem(thrown: unknown): string {
  const { code, message } = asFailure(thrown);
  if (code === "upstream_unreachable") return remarkSentence("callback", { code: "unreachable", params: {} });
  return code === "upstream_timeout" ? remarkSentence("callback", { code: "timeout", params: {} }) : message;
}

/**
 * The headers of Standard Webhooks (standard-webhooks, "Signature scheme"): HMAC-SHA-256 over `id.timestamp.body` with
 * the bytes behind `whsec_`, one signature for each secret. `now` is Unix milliseconds.
 */
export function webhookHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    if (key.length === 0) throw new Error("a webhook secret is empty");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
