import type { ConfigFile } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import { isAddressRange } from "./address.ts";
import { bounds } from "./bounds.ts";

/** The fields of an API key with rules that its schema cannot express. */
export interface CheckedKeyFields {
  readonly name?: string | undefined;
  readonly allowed_ips?: readonly string[] | null | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly service?: boolean | undefined;
  /** An expiry in any format. */
  readonly expires_at?: unknown;
}

export interface FieldFault {
  /** Relative to the key: `["allowed_ips", 1]`. */
  readonly path: readonly [string, ...(string | number)[]];
  /** Follows the path: `must be …`. */
  readonly message: string;
}

/** Problems of a key, from the admin API, the command line or the config file. */
export function keyFaults({ name, allowed_ips, tags, service, expires_at }: CheckedKeyFields): readonly FieldFault[] {
  const found: FieldFault[] = [];
  if (name !== undefined && name.trim() === "") found.push({ path: ["name"], message: "must not be blank" });
  for (const [at, range] of (allowed_ips ?? []).entries()) {
    // A mistyped range would silently exclude every caller.
    if (isAddressRange(range)) continue;
    found.push({ path: ["allowed_ips", at], message: "must be an IP address or a range such as 10.0.0.0/8" });
  }
  if (Object.keys(tags ?? {}).length > bounds.tagsMax) {
    found.push({ path: ["tags"], message: `must be at most ${bounds.tagsMax}` });
  }
  if (service === true && expires_at == null) {
    found.push({ path: ["expires_at"], message: "must be given: a service token always expires" });
  }
  return found;
}

/** Problems of all keys of a config file. */
export function keyConflicts(config: ConfigFile): readonly Conflict[] {
  return (config.workspaces ?? []).flatMap((workspace, index) =>
    (workspace.keys ?? []).flatMap((key, keyIndex) =>
      keyFaults(key).map(({ path, message }) => ({
        path: ["workspaces", index, "keys", keyIndex, ...path],
        message,
      })),
    ),
  );
}
