import type { BudgetConfig, LimitsConfig, LimitUsageRow, RehearsedChange } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { groupChange, keysChange, personChange, workspaceChange } from "../rehearsals/button/change-of.ts";

interface Limited {
  readonly limits: LimitsConfig;
  readonly budget: BudgetConfig | null;
}

/** The change of one limit for a rehearsal, which replaces all rates of its object. null: the object is not loaded, or no limit is set. */
export function useLimitChange(row: LimitUsageRow, limit: number | null): RehearsedChange | null {
  const { scope, scope_id: id, kind, workspace } = row;
  const params = { workspace: workspace.slug };
  const home = useCall("workspaces.show", { params, enabled: scope === "workspace" });
  const groups = useCall("groups.list", { params, enabled: scope === "group" });
  const members = useCall("members.list", { params, enabled: scope === "person" });
  const key = useCall("keys.show", { params: { ...params, key: id }, enabled: scope === "key" });
  if (limit === null) return null;
  const changed = ({ limits, budget }: Limited) =>
    kind === "budget" ? budget && { budget: { ...budget, usd: limit } } : { limits: { ...limits, [kind]: limit } };
  const { slug } = workspace;
  switch (scope) {
    case "workspace": {
      const fields = home.data && changed(home.data);
      return fields ? workspaceChange(slug, fields) : null;
    }
    case "group": {
      const group = groups.data?.data.find((each) => each.id === id);
      const fields = group && changed(group);
      return fields ? groupChange(slug, group.name, fields) : null;
    }
    case "person": {
      const member = members.data?.data.find((each) => each.id === id);
      const fields = member && changed(member);
      return fields ? personChange(slug, member.email, fields) : null;
    }
    case "key": {
      const fields = key.data && changed(key.data);
      return fields ? keysChange([key.data], fields) : null;
    }
  }
}
