import type { ConfigFile, Conflict } from "@sluice/contract";
import ipaddr from "ipaddr.js";

/** An IP address, or a range in CIDR notation. Short forms such as `127.1` are refused: nobody agrees what they mean. */
export function isAddressRange(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  if (rest.length > 0) return false;
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return false;
  return bits === undefined || ipaddr.isValidCIDR(text);
}

/** A mistyped range would quietly let nobody in. */
export function addressConflicts(config: ConfigFile): readonly Conflict[] {
  const found: Conflict[] = [];
  for (const [index, workspace] of (config.workspaces ?? []).entries()) {
    for (const [keyIndex, key] of (workspace.keys ?? []).entries()) {
      for (const [at, range] of (key.allowed_ips ?? []).entries()) {
        if (isAddressRange(range)) continue;
        const path = ["workspaces", index, "keys", keyIndex, "allowed_ips", at];
        found.push({ path, message: "must be an IP address or a range such as 10.0.0.0/8" });
      }
    }
  }
  return found;
}
