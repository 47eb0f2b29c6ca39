import { createHash } from "node:crypto";
import type { AdminToken, Invitation } from "@sluice/contract";
import { everyWorkspace, mayCallWith, meets, type Need, needs, workspaceRoles } from "@sluice/contract/words";
import {
  type Actor,
  bearerToken,
  type ConfigSnapshot,
  declaredTokenName,
  Failure,
  type Grant,
  hasJsonBody,
  roleIn,
  type Workspace,
} from "#core/index.ts";
import { hasAdminTokenFormat } from "#identity/index.ts";
import { noSuchTask, type VideoTasks } from "#tasks/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

/** The caller, by an admin token or a session; null: neither was sent. Throws `not_signed_in` for an invalid token. */
export async function readActor(
  request: Request,
  options: Pick<ConsoleDependencies, "signIn" | "people" | "vault">,
): Promise<Actor | null> {
  if (request.headers.has("authorization")) return await actorFromToken(bearerToken(request), options);
  const session = await options.signIn.session(request);
  if (session === null) return null;
  const { user, fresh } = session;
  const rights = await options.people.rightsOf(user.id);
  return rights === null ? null : { kind: "user", userId: user.id, name: user.email, fresh, ...rights };
}

/** Throws `not_signed_in` for an invalid token. */
export async function actorFromToken(
  secret: string | undefined,
  { people, vault }: Pick<ConsoleDependencies, "people" | "vault">,
): Promise<Actor> {
  // The checksum saves a database read for a mistyped token.
  if (secret !== undefined && hasAdminTokenFormat(secret)) {
    for (const name of storedTokenNames(secret)) {
      const actor = await people.tokenActor(vault.digest(name));
      if (actor !== null) return actor;
    }
  }
  throw new Failure("not_signed_in", "Invalid admin token. Create one in the console under Settings.");
}

/** A token may be stored by its secret, or by the hash that the config file declares. */
export function storedTokenNames(secret: string): readonly string[] {
  return [secret, declaredTokenName(createHash("sha256").update(secret).digest("hex"))];
}

/** The workspace with this id or slug; null: all workspaces. Throws `not_found` also for one that the actor may not see. */
export function workspaceNamed(name: string, actor: Actor | null, configSnapshot: ConfigSnapshot): Workspace | null {
  if (actor === null) throw notSignedIn();
  if (name === everyWorkspace) {
    if (actor.administrator) return null;
    throw new Failure("forbidden", "Only administrators can see all workspaces at once. Name one workspace.");
  }
  const workspace =
    configSnapshot.workspaces.get(name) ?? [...configSnapshot.workspaces.values()].find((each) => each.slug === name);
  if (workspace !== undefined && (actor.administrator || actor.roles.has(workspace.id))) {
    return workspace;
  }
  throw new Failure("not_found", "Workspace not found.", { param: "workspace" });
}

/** The actor's own workspaces first, each part ordered by name. */
export function visibleWorkspaces(actor: Actor, { workspaces }: ConfigSnapshot): readonly Workspace[] {
  const own = ({ id }: Workspace) => Number(actor.roles.has(id));
  return [...workspaces.values()]
    .filter(({ id }) => roleIn(actor, id) !== null)
    .sort((one, other) => own(other) - own(one) || one.name.localeCompare(other.name));
}

/** The actor's role in a workspace, or their highest role anywhere if there is none. */
export function roleHeldBy(actor: Actor | null, workspace: Workspace | null): Need {
  if (actor === null) return "public";
  if (actor.administrator) return "administrator";
  if (workspace !== null) return actor.roles.get(workspace.id) ?? "signed-in";
  const roles = [...actor.roles.values()];
  return workspaceRoles.findLast((role) => roles.includes(role)) ?? "signed-in";
}

/** The rights of an invitation or a token. */
export function grantOf({ workspace, role }: Pick<Invitation | AdminToken, "workspace" | "role">): Grant {
  return workspace === null || role === null
    ? { administrator: true }
    : { administrator: false, workspaceId: workspace.id, role };
}

/** For messages. */
export function needText(need: Need): string {
  if (need === "administrator") return "an administrator";
  if (needs.indexOf(need) <= needs.indexOf("signed-in")) return "a signed-in user";
  return need === "admin" || need === "owner" ? `an ${need} of the workspace` : `a ${need} of the workspace`;
}

export function notSignedIn(): Failure {
  return new Failure("not_signed_in", "Sign in first.");
}

export interface Viewer {
  readonly actor: Actor | null;
  readonly held: Need;
}

/**
 * The only person with visible calls and spend, or null if the viewer manages people and may see all. Totals, and data of no single
 * person, are visible to every viewer of the page.
 */
export function visiblePerson({ actor, held }: Viewer): string | null {
  if (meets(held, "admin")) return null;
  if (actor === null) throw notSignedIn();
  return actor.userId;
}

/** Throws `forbidden` for another person's data. */
export function checkPerson(viewer: Viewer, person: string | undefined): void {
  const own = visiblePerson(viewer);
  if (own === null || person === undefined || person === own) return;
  const message = "Only admins of the workspace can see the calls and spend of another person.";
  throw new Failure("forbidden", message, { param: "person" });
}

/** Throws `task_not_found` if the viewer may not see the calls of the person who created the video task. */
export async function checkTaskVisible(
  viewer: Viewer,
  videos: Pick<VideoTasks, "find">,
  { id: workspaceId }: Workspace,
  id: string,
): Promise<void> {
  const own = visiblePerson(viewer);
  if (own === null) return;
  const { personId = own } = await videos.find(workspaceId, id);
  if (personId !== own) throw noSuchTask(id);
}

/** Data that a key made: visible to all if the key is shared, else to its person and to admins. */
interface MadeByKey {
  readonly workspaceId: string;
  readonly keyId: string;
  /** null or absent: the key is shared. */
  readonly personId?: string | null;
}

/** Files and results are content of callers. Admins of the workspace may read them, like captured bodies, and users who may call with the key. */
export async function mayReadContent(
  { actor, held }: Viewer,
  { controlStore }: Pick<ConsoleDependencies, "controlStore">,
  { workspaceId, keyId, personId }: MadeByKey,
): Promise<boolean> {
  if (meets(held, "admin")) return true;
  if (actor === null) return false;
  if (personId != null) return personId === actor.userId;
  const key = await controlStore.key(workspaceId, keyId);
  return key !== null && mayCallWith(key, actor.userId, { isAdmin: false });
}

/**
 * CSRF protection of calls that change something. Browsers send `sec-fetch-site` and `origin`, and other origins are refused. Programs
 * send neither, and no cookies that a page could use. Only JSON is accepted, since a form of another site cannot send it.
 */
export function checkStateChange(request: Request, publicUrl: string | null): void {
  checkOrigin(request, publicUrl);
  if (!hasJsonBody(request)) throw new Failure("unsupported_media_type", "The body must be application/json.");
}

/** For calls that accept other bodies too. A POST that a form of another site could have sent must prove its origin. */
export function checkOwnPage(request: Request, publicUrl: string | null): void {
  checkOrigin(request, publicUrl);
  const { headers } = request;
  if (headers.has("sec-fetch-site") || headers.has("origin") || headers.has("authorization")) return;
  if (request.method === "POST" && !hasJsonBody(request)) throw foreignOrigin();
}

function checkOrigin(request: Request, publicUrl: string | null): void {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") throw foreignOrigin();
  const origin = request.headers.get("origin");
  if (origin !== null && !isOwnOrigin(origin, request, publicUrl)) throw foreignOrigin();
}

function isOwnOrigin(origin: string, request: Request, publicUrl: string | null): boolean {
  if (!URL.canParse(origin)) return false;
  const host = request.headers.get("host") ?? new URL(request.url).host;
  // Only the host is compared: behind a TLS proxy the scheme differs.
  if (new URL(origin).host === host.toLowerCase()) return true;
  return publicUrl !== null && URL.canParse(publicUrl) && new URL(publicUrl).origin === origin;
}

function foreignOrigin(): Failure {
  return new Failure("forbidden", "Browsers can make this call only from the gateway's own pages.");
}
