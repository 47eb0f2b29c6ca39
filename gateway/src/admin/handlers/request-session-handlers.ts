import { Failure, withoutUndefined } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkPerson, visiblePerson } from "./callers.ts";
import { type Handlers, pageSize } from "./calls.ts";

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
    "sessions.show": async (call) => {
      const { query, params, workspace } = call;
      const { session, cursor = null, limit = pageSize } = query;
      const place = {
        workspaceId: workspace?.id ?? null,
        visiblePerson: visiblePerson(call) ?? undefined,
        keyId: params.key,
        session,
      };
      const found = await reports.session(place, cursor, limit);
      // The answer must not reveal whether another user's session exists.
      if (found !== null) return found;
      throw new Failure("not_found", "Session not found. It may have been deleted by retention.", { param: "session" });
    },
    "requests.session": async (call) => {
      const { params, workspace } = call;
      const place = { workspaceId: workspace?.id ?? null, visiblePerson: visiblePerson(call) ?? undefined };
      return await reports.requestSession(place, params.request);
    },
  } satisfies Partial<Handlers>;
}
