import { createHash } from "node:crypto";
import type { Need } from "@sluice/contract";
import { everyWorkspace, needs, workspaceRoles } from "@sluice/contract/words";
import { type Actor, type ConfigSnapshot, declaredTokenName, Failure, type Workspace } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import { looksLikeAdminToken } from "#identity/index.ts";
import type { SignIn, Vault } from "#ports/index.ts";

export interface WhoCallsOptions {
  readonly signIn: Pick<SignIn, "session">;
  readonly people: Pick<PeopleStore, "rightsOf" | "tokenActor">;
  readonly vault: Pick<Vault, "digest">;
}

/** The caller with the `set-cookie` lines that must go with the answer. */
export interface Caller {
  readonly actor: Actor | null;
  readonly cookies: readonly string[];
}

/** Who takes a call: an admin token in `authorization`, else a session. Throws not_signed_in for a token that does not hold. */
export async function whoCalls(request: Request, options: WhoCallsOptions): Promise<Caller> {
  const authorization = request.headers.get("authorization");
  if (authorization !== null) {
    const secret = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return { actor: await actorOfToken(secret, options), cookies: [] };
  }
  const session = await options.signIn.session(request);
  if (session === null) return { actor: null, cookies: [] };
  const { user, fresh, cookies } = session;
  const rights = await options.people.rightsOf(user.id);
  if (rights === null) return { actor: null, cookies };
  return { actor: { kind: "user", userId: user.id, name: user.email, fresh, ...rights }, cookies };
}

/** Whose admin token that is. Throws not_signed_in for one that does not hold. */
export async function actorOfToken(
  secret: string | undefined,
  { people, vault }: Pick<WhoCallsOptions, "vault"> & { readonly people: Pick<PeopleStore, "tokenActor"> },
): Promise<Actor> {
  // One that was mistyped or made up costs no read.
  if (secret !== undefined && looksLikeAdminToken(secret)) {
    for (const known of namesOfToken(secret)) {
      const actor = await people.tokenActor(vault.digest(known));
      if (actor !== null) return actor;
    }
  }
  throw new Failure("not_signed_in", "This is not an admin token that holds. Make one in the console, under Settings.");
}

/** What a token may be stored by: of one that the config file names by its hash, the digest is made of that. */
export function namesOfToken(secret: string): readonly string[] {
  return [secret, declaredTokenName(sha256(secret))];
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The workspace that a path names, by id or slug; null for every one. One that the actor may not see looks missing. */
export function workspaceNamed(name: string, actor: Actor | null, configSnapshot: ConfigSnapshot): Workspace | null {
  // Whose session ended has to hear that, and nothing of what there is.
  if (actor === null) throw new Failure("not_signed_in", "Sign in first.");
  if (name === everyWorkspace) {
    if (actor.administrator) return null;
    throw new Failure("forbidden", "Only an administrator sees every workspace at once. Name one.");
  }
  const workspace =
    configSnapshot.workspaces.get(name) ?? [...configSnapshot.workspaces.values()].find((each) => each.slug === name);
  if (workspace !== undefined && (actor.administrator || actor.roles.has(workspace.id))) {
    return workspace;
  }
  throw new Failure("not_found", "There is no such workspace.", { param: "workspace" });
}

/** What somebody holds: in a workspace, or the most they hold anywhere when there is none to look at. */
export function heldBy(actor: Actor | null, workspace: Workspace | null): Need {
  if (actor === null) return "public";
  if (actor.administrator) return "administrator";
  if (workspace !== null) return actor.roles.get(workspace.id) ?? "signed-in";
  const roles = [...actor.roles.values()];
  return workspaceRoles.findLast((role) => roles.includes(role)) ?? "signed-in";
}

/** Words for a refusal. */
export function neededWords(need: Need): string {
  if (need === "administrator") return "an administrator";
  if (needs.indexOf(need) <= needs.indexOf("signed-in")) return "somebody who is signed in";
  return need === "admin" || need === "owner" ? `an ${need} of the workspace` : `a ${need} of the workspace`;
}
