import { type WorkspaceRole, workspaceRoles } from "@sluice/contract/words";
import type { Grant } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import { CommandWrong } from "./command-failed.ts";
import { workspaceNamed } from "./commands/workspaces.ts";

/** What a command line says of somebody's rights. */
export interface GrantOptions {
  readonly administrator?: true;
  readonly workspace?: string;
  readonly role?: string;
}

export const administratorOption = ["--administrator", "it governs the installation"] as const;
export const workspaceOption = ["--workspace <slug>", "it is for this workspace only"] as const;
export const roleOption = ["--role <role>", `what it may do there: ${workspaceRoles.join(", ")}`] as const;

/** null: the whole installation. Throws CommandWrong when the options do not say one thing. */
export function roleAsked({ administrator, workspace, role }: GrantOptions): WorkspaceRole | null {
  if (administrator === true) {
    if (workspace === undefined && role === undefined) return null;
    throw new CommandWrong("--administrator goes without --workspace and --role: it has every workspace");
  }
  if (workspace === undefined || role === undefined) {
    throw new CommandWrong("say what it is for: --administrator, or --workspace and --role");
  }
  const known = workspaceRoles.find((each) => each === role);
  if (known === undefined) throw new CommandWrong(`--role is one of ${workspaceRoles.join(", ")}`);
  return known;
}

/** `role`: what `roleAsked` gave. */
export async function grantAsked(
  { workspace }: GrantOptions,
  role: WorkspaceRole | null,
  store: Pick<ControlStore, "workspaceNamed">,
): Promise<Grant> {
  if (role === null || workspace === undefined) return { administrator: true };
  return { administrator: false, workspaceId: (await workspaceNamed(store, workspace)).id, role };
}
