import { createHmac } from "node:crypto";

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
