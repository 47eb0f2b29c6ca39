import { createHash } from "node:crypto";

/** Whose key it is, and for which model of the upstream's it goes out. */
export interface KeyScope {
  readonly workspaceId: string;
  readonly upstreamModel: string;
}

/**
 * Puts a key of the workspace's own in the place of a caller's `idempotency-key`. An account may serve several workspaces, and
 * its vendor gives whoever sends a key again the answer that was made for it first: two tenants that name their keys alike
 * (`order-17`) would get each other's. Repeats of a call, ours and its caller's, have the same key; another model at the same
 * account is another request, which a vendor would refuse under a known key. UUID-shaped (RFC 9562, version 8), the form that
 * every vendor takes.
 */
export function ownIdempotencyKeys(headers: Record<string, string>, scope: KeyScope): void {
  for (const name of names) {
    const key = headers[name];
    if (key === undefined) continue;
    if (key === "") delete headers[name];
    else headers[name] = ownKey(key, scope);
  }
}

/** The second where an operator lists it. */
const names = ["idempotency-key", "x-idempotency-key"] as const;

/** JSON, so that no two of them are the same text. */
function ownKey(key: string, { workspaceId, upstreamModel }: KeyScope): string {
  const bytes = createHash("sha256")
    .update(JSON.stringify([workspaceId, upstreamModel, key]))
    .digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex", 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
