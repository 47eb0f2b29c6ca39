import type { AnswerOf, BodyOf, Need, QueryOf, RouteId, RouteParams } from "@sluice/contract";
import { type Actor, Failure, type Workspace } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";

/** A call of the admin API that was parsed, validated and authorized. */
export interface ConsoleCall<Id extends RouteId> {
  readonly params: RouteParams<Id>;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  /** Who makes the call; null only on `public` routes. */
  readonly actor: Actor | null;
  /** Who the audit log names for it. */
  readonly auditSource: AuditSource;
  /** The actor's role in the workspace, or `administrator`. Never below what the route needs. */
  readonly held: Need;
  /** The workspace in the path; null when the path has none, or `-` for all. */
  readonly workspace: Workspace | null;
  readonly request: Request;
  readonly ip: string;
  readonly signal: AbortSignal;
}

/** Handles a call and returns its answer, or throws Failure. */
export type Handler<Id extends RouteId> = (call: ConsoleCall<Id>) => Promise<AnswerOf<Id>> | AnswerOf<Id>;

export type Handlers<Ids extends RouteId> = { readonly [Id in Ids]: Handler<Id> };

/** The default page size, in rows. */
export const pageSize = 50;

/** The actor of a call that is not public, which always has one. */
export function requireActor(actor: Actor | null): Actor {
  if (actor === null) throw new Failure("not_signed_in", "Sign in first.");
  return actor;
}

/** Throws invalid_request where the path says `-` for all workspaces and the call needs one. */
export function oneWorkspace({ workspace }: { readonly workspace: Workspace | null }): Workspace {
  if (workspace !== null) return workspace;
  throw new Failure("invalid_request", "Name one workspace. This call cannot cover all of them at once.", {
    param: "workspace",
  });
}
