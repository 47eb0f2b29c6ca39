import { Failure, withoutUndefined } from "#core/index.ts";
import type { SessionPlace } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkPerson, visiblePerson } from "./callers.ts";
import { type ConsoleCall, type Handlers, pageSize } from "./calls.ts";

/** Calls for sessions of requests: conversations of coding agents and other clients. */
export function requestSessionHandlers({ reports }: ConsoleDependencies) {
  return {
    "sessions.list": async (call) => {
      const { query, workspace } = call;
      const { key, person, sort = "-last_at", cursor = null, limit = pageSize, ...more } = query;
      checkPerson(call, person);
      const filter = {
        workspaceId: workspace?.id ?? null,
        visiblePerson: visiblePerson(call) ?? undefined,
        sort,
        ...withoutUndefined({ ...more, keyId: key, personId: person }),
      };
      return await reports.sessions(filter, cursor, limit);
    },
    "sessions.agents": async (call) => {
      const filter = { workspaceId: call.workspace?.id ?? null, visiblePerson: visiblePerson(call) ?? undefined };
      return { data: await reports.sessionAgents({ ...filter, ...withoutUndefined(call.query) }) };
    },
    "sessions.show": async (call) => found(await reports.session(placeOf(call))),
    "sessions.requests": async (call) => {
      const { cursor = null, limit = pageSize } = call.query;
      return found(await reports.sessionRequests(placeOf(call), cursor, limit));
    },
    "sessions.tools": async (call) => found(await reports.sessionTools(placeOf(call))),
    "requests.session": async (call) => {
      const { params, workspace } = call;
      const place = { workspaceId: workspace?.id ?? null, visiblePerson: visiblePerson(call) ?? undefined };
      return await reports.requestSession(place, params.request);
    },
  } satisfies Partial<Handlers>;
}

function placeOf(call: ConsoleCall<"sessions.show" | "sessions.requests" | "sessions.tools">): SessionPlace {
  return {
    workspaceId: call.workspace?.id ?? null,
    visiblePerson: visiblePerson(call) ?? undefined,
    keyId: call.params.key,
    session: call.query.session,
  };
}

/** The answer must not reveal whether another user's session exists. */
function found<Answer>(answer: Answer | null): Answer {
  if (answer !== null) return answer;
  throw new Failure("not_found", "Session not found. It may have been deleted by retention.", { param: "session" });
}
