import type { AnswerOf, BodyOf, Need, QueryOf, RouteId, RouteParams } from "@sluice/contract";
import { type Actor, Failure, type Workspace } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";

/** One call of the admin API that may be taken: read, checked and allowed. */
export interface ConsoleCall<Id extends RouteId> {
  readonly params: RouteParams<Id>;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  /** Who takes it; null only on `public` routes. */
  readonly actor: Actor | null;
  /** Whose doing an audit row is to say it is. */
  readonly auditSource: AuditSource;
  /** What the actor holds for this route: the role in the workspace, or `administrator`. Never below what the route needs. */
  readonly held: Need;
  /** The workspace that the path names; null when it names none, or every one (`-`). */
  readonly workspace: Workspace | null;
  readonly request: Request;
  readonly ip: string;
  readonly signal: AbortSignal;
}

/** Does a call and gives what it answers with, or throws Failure. */
export type Handler<Id extends RouteId> = (call: ConsoleCall<Id>) => Promise<AnswerOf<Id>> | AnswerOf<Id>;

export type Handlers<Ids extends RouteId> = { readonly [Id in Ids]: Handler<Id> };

/** Rows of a page when nobody says how many. */
export const pageSize = 50;

/** The actor of a call that is not public: there always is one. */
export function requireActor(actor: Actor | null): Actor {
  if (actor === null) throw new Failure("not_signed_in", "Sign in first.");
  return actor;
}

/** Where every workspace at once makes no sense. */
export function oneWorkspace({ workspace }: { readonly workspace: Workspace | null }): Workspace {
  if (workspace !== null) return workspace;
  throw new Failure("invalid_request", "Name one workspace: this cannot be asked of all at once.", {
    param: "workspace",
  });
}
