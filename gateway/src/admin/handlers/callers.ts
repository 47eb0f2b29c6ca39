import { createHash } from "node:crypto";
import type { AdminToken, Invitation } from "@sluice/contract";
import { everyWorkspace, meets, type Need, needs, workspaceRoles } from "@sluice/contract/words";
import {
  type Actor,
  type ConfigSnapshot,
  declaredTokenName,
  Failure,
  type Grant,
  roleIn,
  type Workspace,
} from "#core/index.ts";
import { looksLikeAdminToken } from "#identity/index.ts";
import { noSuchTask, type VideoTasks } from "#tasks/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

/**
 * Who takes a call: an admin token in `authorization`, else a session. Throws not_signed_in for a token that does not hold.
 * `cookies`: the `set-cookie` lines that must go with the answer.
 */
export async function whoCalls(
  request: Request,
  options: Pick<ConsoleDependencies, "signIn" | "people" | "vault">,
): Promise<{ readonly actor: Actor | null; readonly cookies: readonly string[] }> {
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
  { people, vault }: Pick<ConsoleDependencies, "people" | "vault">,
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
  return [secret, declaredTokenName(createHash("sha256").update(secret).digest("hex"))];
}

/** The workspace that a path names, by id or slug; null for every one. One that the actor may not see looks missing. */
export function workspaceNamed(name: string, actor: Actor | null, configSnapshot: ConfigSnapshot): Workspace | null {
  // Whose session ended has to hear that, and nothing of what there is.
  if (actor === null) throw notSignedIn();
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

/** One's own workspaces first, then, for an administrator, the others, by name. */
export function workspacesSeen(actor: Actor, { workspaces }: ConfigSnapshot): readonly Workspace[] {
  const own = ({ id }: Workspace) => Number(actor.roles.has(id));
  return [...workspaces.values()]
    .filter(({ id }) => roleIn(actor, id) !== null)
    .sort((one, other) => own(other) - own(one) || one.name.localeCompare(other.name));
}

/** What somebody holds: in a workspace, or the most they hold anywhere when there is none to look at. */
export function heldBy(actor: Actor | null, workspace: Workspace | null): Need {
  if (actor === null) return "public";
  if (actor.administrator) return "administrator";
  if (workspace !== null) return actor.roles.get(workspace.id) ?? "signed-in";
  const roles = [...actor.roles.values()];
  return workspaceRoles.findLast((role) => roles.includes(role)) ?? "signed-in";
}

/** The rights of an invitation or a token. */
export function grantIn({ workspace, role }: Pick<Invitation | AdminToken, "workspace" | "role">): Grant {
  return workspace === null || role === null
    ? { administrator: true }
    : { administrator: false, workspaceId: workspace.id, role };
}

/** Words for a refusal. */
export function neededWords(need: Need): string {
  if (need === "administrator") return "an administrator";
  if (needs.indexOf(need) <= needs.indexOf("signed-in")) return "somebody who is signed in";
  return need === "admin" || need === "owner" ? `an ${need} of the workspace` : `a ${need} of the workspace`;
}

export function notSignedIn(): Failure {
  return new Failure("not_signed_in", "Sign in first.");
}

export interface Looker {
  readonly actor: Actor | null;
  /** The role in the workspace in question. */
  readonly held: Need;
}

/**
 * Whose calls and spend somebody may see by person: everybody's (null) if they manage people, else only their own. Data of no single
 * person, and totals, are open to everybody who may view the page.
 */
export function seenPerson({ actor, held }: Looker): string | null {
  if (meets(held, "admin")) return null;
  if (actor === null) throw notSignedIn();
  return actor.userId;
}

/** The same as a filter field. */
export function seenOnly(looker: Looker): { readonly seenPerson?: string } {
  const person = seenPerson(looker);
  return person === null ? {} : { seenPerson: person };
}

/** Throws `forbidden` if somebody asks for another person's data. */
export function checkPerson(looker: Looker, person: string | undefined): void {
  const own = seenPerson(looker);
  if (own === null || person === undefined || person === own) return;
  const message = "What one person calls and spends is for themselves and for admins of the workspace.";
  throw new Failure("forbidden", message, { param: "person" });
}

/** Throws task_not_found, before anything is done, if the actor may not see the calls of the person who made the video task. */
export async function checkTask(
  looker: Looker,
  videos: Pick<VideoTasks, "find">,
  { id: workspaceId }: Workspace,
  id: string,
): Promise<void> {
  const own = seenPerson(looker);
  if (own === null) return;
  const { personId = own } = await videos.find(workspaceId, id);
  if (personId !== own) throw noSuchTask(id);
}

/**
 * What every control call that changes something must pass before it is read. A browser says where a call comes from
 * (`sec-fetch-site`, `origin`); another site's page is refused. A program sends neither, and carries nothing that a
 * page could borrow. JSON only: a plain form on another site cannot send it without asking first.
 */
export function checkStateChange(request: Request, publicUrl: string | null): void {
  checkOrigin(request, publicUrl);
  if (!isJson(request)) throw new Failure("unsupported_media_type", "The body must be application/json.");
}

/**
 * The same for a call that takes other bodies too, which a form on another site could send unasked: whoever comes with
 * what a browser adds by itself has to come with what a browser says of where it is.
 */
export function checkOwnPage(request: Request, publicUrl: string | null): void {
  checkOrigin(request, publicUrl);
  const { headers } = request;
  if (headers.has("sec-fetch-site") || headers.has("origin") || headers.has("authorization") || isJson(request)) return;
  if (request.method === "POST") throw foreign();
}

function checkOrigin(request: Request, publicUrl: string | null): void {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") throw foreign();
  const origin = request.headers.get("origin");
  if (origin !== null && !isOwn(origin, request, publicUrl)) throw foreign();
}

function isJson(request: Request): boolean {
  return /^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "");
}

function isOwn(origin: string, request: Request, publicUrl: string | null): boolean {
  if (!URL.canParse(origin)) return false;
  const host = request.headers.get("host") ?? new URL(request.url).host;
  // Behind a proxy that ends TLS the scheme differs from ours; the host decides.
  if (new URL(origin).host === host.toLowerCase()) return true;
  return publicUrl !== null && URL.canParse(publicUrl) && new URL(publicUrl).origin === origin;
}

function foreign(): Failure {
  return new Failure("forbidden", "This call may only come from the gateway's own pages.");
}
