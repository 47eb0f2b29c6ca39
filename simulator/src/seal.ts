import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * What only this vendor can have made: signatures that travel beside a text, and sealed contents that one account can
 * open again. Nothing is remembered: everything needed is inside, so it outlives the process as a vendor's would.
 */
export function sign(kind: string, text: string): string {
  const nonce = randomBytes(8);
  return Buffer.concat([nonce, mark(kind, nonce, text)]).toString("base64");
}

export function isSigned(kind: string, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, "base64");
  return bytes.length === 8 + markBytes && timingSafeEqual(bytes.subarray(8), mark(kind, bytes.subarray(0, 8), text));
}

/** An opaque text holding `payload` for this account. */
export function seal(kind: string, account: string, payload: string): string {
  const nonce = randomBytes(8);
  const sealed = mark(`${kind} of ${account}`, nonce, payload);
  return `sim_${Buffer.concat([nonce, sealed, Buffer.from(payload)]).toString("base64url")}`;
}

/** The payload; null when this account did not get the text from here. */
export function unseal(kind: string, account: string, text: string): string | null {
  if (!text.startsWith("sim_")) return null;
  const bytes = Buffer.from(text.slice(4), "base64url");
  if (bytes.length < 8 + markBytes) return null;
  const payload = bytes.subarray(8 + markBytes).toString("utf8");
  const expected = mark(`${kind} of ${account}`, bytes.subarray(0, 8), payload);
  return timingSafeEqual(bytes.subarray(8, 8 + markBytes), expected) ? payload : null;
}

/** Always the same for the same text, and not to be guessed: what a link is signed with. */
export function stamp(kind: string, text: string): string {
  return mark(kind, new Uint8Array(8), text).toString("hex");
}

/** Who calls, by the credential; calls without one are all one account. */
export function accountOf(headers: Readonly<Record<string, string>>): string {
  const header = headers["authorization"] ?? headers["api-key"] ?? headers["x-api-key"] ?? headers["x-goog-api-key"];
  return accountOfKey((header ?? "").replace(/^bearer\s+/i, ""));
}

export function accountOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 16);
}

const markBytes = 24;

function mark(kind: string, nonce: Uint8Array, text: string): Buffer {
  const made = createHmac("sha256", "sluice simulator").update(`${kind}\n`).update(nonce).update(text).digest();
  return made.subarray(0, markBytes);
}
