import type { TenantStore } from "#ports/index.ts";
import type { ControlOptions } from "../control-options.ts";
import { tenantGroups } from "./tenant-groups.ts";
import { tenantKeys } from "./tenant-keys.ts";
import { tenantWorkspaces } from "./tenant-workspaces.ts";

export function tenantStore(options: ControlOptions): TenantStore {
  return { ...tenantWorkspaces(options), ...tenantGroups(options), ...tenantKeys(options) };
}
