import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface WorkspaceCallsHouse {}

/** The calls about workspaces and groups. */
export function workspaceCalls(
  _house: WorkspaceCallsHouse,
): Handlers<
  | "workspaces.list"
  | "workspaces.create"
  | "workspaces.show"
  | "workspaces.update"
  | "workspaces.remove"
  | "groups.list"
  | "groups.create"
  | "groups.update"
  | "groups.remove"
> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "workspaces.list": missing,
    "workspaces.create": missing,
    "workspaces.show": missing,
    "workspaces.update": missing,
    "workspaces.remove": missing,
    "groups.list": missing,
    "groups.create": missing,
    "groups.update": missing,
    "groups.remove": missing,
  };
}
