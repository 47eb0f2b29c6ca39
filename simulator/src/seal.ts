import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * Data that only this vendor can have created: signatures sent with a text, and sealed contents that one account can
 * open again. Nothing is stored on the server, so they outlive the process, as a real vendor's would.
 */
export function sign(kind: string, text: string): string {
  const nonce = randomBytes(8);
  return Buffer.concat([nonce, macOf(kind, nonce, text)]).toString("base64");
}

export function isSigned(kind: string, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, "base64");
  return bytes.length === 8 + macBytes && timingSafeEqual(bytes.subarray(8), macOf(kind, bytes.subarray(0, 8), text));
}

/** An opaque text that contains `payload` for this account. */
export function seal(kind: string, account: string, payload: string): string {
  const nonce = randomBytes(8);
  const mac = macOf(`${kind} of ${account}`, nonce, payload);
  return `sim_${Buffer.concat([nonce, mac, Buffer.from(payload)]).toString("base64url")}`;
}

/** Returns the payload, or null if the text was not created here for this account. */
export function unseal(kind: string, account: string, text: string): string | null {
  if (!text.startsWith("sim_")) return null;
  const bytes = Buffer.from(text.slice(4), "base64url");
  if (bytes.length < 8 + macBytes) return null;
  const payload = bytes.subarray(8 + macBytes).toString("utf8");
  const expected = macOf(`${kind} of ${account}`, bytes.subarray(0, 8), payload);
  return timingSafeEqual(bytes.subarray(8, 8 + macBytes), expected) ? payload : null;
}

/** Signs a link: always the same for the same text, and impossible to guess. */
export function linkSignature(kind: string, text: string): string {
  return macOf(kind, new Uint8Array(8), text).toString("hex");
}

/** Identifies the caller by its credential; all calls without one share an account. */
export function accountOf(headers: Readonly<Record<string, string>>): string {
  const header = headers["authorization"] ?? headers["api-key"] ?? headers["x-api-key"] ?? headers["x-goog-api-key"];
  return accountOfKey((header ?? "").replace(/^bearer\s+/i, ""));
}

export function accountOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 16);
}

const macBytes = 24;

function macOf(kind: string, nonce: Uint8Array, text: string): Buffer {
  const mac = createHmac("sha256", "sluice simulator").update(`${kind}\n`).update(nonce).update(text).digest();
  return mac.subarray(0, macBytes);
}
