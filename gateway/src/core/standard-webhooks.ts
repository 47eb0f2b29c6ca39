import { createHmac } from "node:crypto";
import { isSameText } from "./secret.ts";

/** The signature of Standard Webhooks: HMAC-SHA-256 over `id.timestamp.body`. `timestamp`: Unix seconds, as in the header. */
export function webhookSignature(key: Uint8Array, id: string, timestamp: string, body: string | Uint8Array): string {
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}

/** The key in a `whsec_` secret; null if it has another form, or is shorter than Standard Webhooks allows. */
export function webhookKey(secret: string): Uint8Array | null {
  const text = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim())?.[1];
  const key = Buffer.from(text ?? "", "base64");
  return key.length < keyBytesMin ? null : key;
}

/** The headers of a signed webhook. */
export interface WebhookHead {
  readonly id: string;
  readonly timestamp: string;
  readonly signatures: readonly string[];
}

/** null: a header is missing or malformed, or the time is more than five minutes from `now` (Unix milliseconds). */
export function webhookHead(headerOf: (name: string) => string | null, now: number): WebhookHead | null {
  const id = headerOf("webhook-id") ?? "";
  const timestamp = headerOf("webhook-timestamp") ?? "";
  const signatures = (headerOf("webhook-signature") ?? "").split(" ", signaturesMax).filter((one) => one !== "");
  if (id === "" || signatures.length === 0 || !/^\d{1,12}$/.test(timestamp)) return null;
  if (Math.abs(now - Number(timestamp) * 1_000) > toleranceMs) return null;
  return { id, timestamp, signatures };
}

/** One signature is enough: senders sign with two keys while one replaces the other. */
export function isSignedWith(key: Uint8Array, { id, timestamp, signatures }: WebhookHead, body: Uint8Array): boolean {
  const expected = webhookSignature(key, id, timestamp, body);
  return signatures.some((one) => isSameText(one, expected));
}

const keyBytesMin = 24;
const signaturesMax = 16;
const toleranceMs = 300_000;
