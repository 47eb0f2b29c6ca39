import type { TenantStore } from "#ports/index.ts";
import type { ControlOptions } from "../control-options.ts";
import { tenantKeys } from "../keys/keys.ts";
import { tenantGroups } from "./groups.ts";
import { tenantWorkspaces } from "./workspaces.ts";

export function tenantStore(options: ControlOptions): TenantStore {
  return { ...tenantWorkspaces(options), ...tenantGroups(options), ...tenantKeys(options) };
}
