import type { LimitUsageRow } from "@sluice/contract";
import type { LinkProps } from "@tanstack/react-router";

export interface LimitPlace extends Pick<LimitUsageRow, "scope" | "scope_id" | "kind"> {
  readonly workspace: string;
}

/** The limits page with the editor of one limit open. `to`: the amount to start from. */
export function limitLink({ workspace, scope, scope_id: id, kind }: LimitPlace, to?: number): LinkProps {
  const edit = [scope, id, kind].join("/");
  return { to: "/limits", search: { workspace, edit, ...(to === undefined ? {} : { to: String(to) }) } };
}
