import type { LimitUsageRow } from "@sluice/contract";
import { limitedObjects } from "@sluice/contract/words";
import type { LinkProps } from "@tanstack/react-router";
import type { Search } from "../../routes/search.ts";

type LimitPlace = Pick<LimitUsageRow, "scope" | "scope_id" | "kind">;

/** The limits page with the editor of one limit open. `to`: the amount to start from. */
export function limitLink({ scope, scope_id: id, kind }: LimitPlace, workspace: string, to?: number): LinkProps {
  const object = `${scope}:${id}`;
  return {
    to: "/limits",
    search: { workspace, object, edit: kind, ...(to === undefined ? {} : { to: String(to) }) },
  };
}

/** The limits page with the form of a budget policy open. `workspace`: a slug, or `-` for the installation. */
export function policyLink(id: string, workspace: string): LinkProps {
  return { to: "/limits", search: { workspace, budget: id } };
}

/** The object that the URL names. */
export function objectIn({ object = "" }: Search): Pick<LimitPlace, "scope" | "scope_id"> | null {
  const [kind, id = ""] = [object.slice(0, object.indexOf(":")), object.slice(object.indexOf(":") + 1)];
  const scope = limitedObjects.find((each) => each === kind);
  return scope === undefined || id === "" ? null : { scope, scope_id: id };
}

/** A proposal for a limit that refused a request: half as much again, with two digits. */
export function raisedLimit(kind: LimitPlace["kind"], limit: number, used: number | null): number {
  const wanted = Math.max(limit, used ?? 0) * 1.5;
  if (wanted === 0) return 1;
  const unit = 10 ** (Math.floor(Math.log10(wanted)) - 1);
  const rounded = Number((Math.ceil(wanted / unit) * unit).toPrecision(6));
  return kind === "budget" ? rounded : Math.max(limit + 1, Math.ceil(rounded));
}
