import type { ConfigFile } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import { isAddressRange } from "#core/index.ts";

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
