import type { QueryOf } from "@sluice/contract";
import { meets } from "@sluice/contract/words";
import { Failure, withoutUndefined } from "#core/index.ts";
import type { RequestFilter, RequestPage } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkPerson, visiblePerson } from "./callers.ts";
import { type ConsoleCall, type Handlers, pageSize, type StreamingCall } from "./calls.ts";

const notFoundText =
  "Request not found in this workspace. Search for the x-request-id of the response. Old requests are deleted by retention, " +
  "and of identical refusals at most 600 a minute are stored one by one.";

/** Calls for requests. */
export function requestHandlers(dependencies: ConsoleDependencies) {
  const { reports, explain, people } = dependencies;
  return {
    "requests.list": async (call) => {
      const { cursor = null, limit = pageSize } = call.query;
      const { data, next, searchedFrom } = await findRequests(dependencies, call, call.query, cursor, limit);
      return { data, next, searched_from: searchedFrom };
    },
    "requests.totals": async (call) => await reports.requestTotals(filterOf(call, call.query)),
    "requests.show": async (call) => {
      const { params, workspace, held, auditSource } = call;
      const { attempts, countedIn } = await reports.attempts(workspace?.id ?? null, params.request);
      const [first] = attempts;
      const own = visiblePerson(call);
      // The answer must not reveal whether another user's request exists.
      if (first === undefined || (own !== null && first.person !== null && first.person.id !== own)) {
        throw new Failure("not_found", notFoundText, { param: "request" });
      }
      const { at, key } = first;
      const capture = meets(held, "admin") ? await explain.capture(params.request) : null;
      if (capture !== null) {
        // Access to captured content is audited.
        const object = `captured request ${first.request_id}` as const;
        await people.note({ action: "view", object, workspaceId: first.workspace.id }, auditSource);
      }
      const explanation = await explain.explanation(params.request);
      const counted_in = countedIn === null ? null : { request_id: countedIn.requestId, calls: countedIn.calls };
      const checks = [...(await reports.requestChecks(params.request))];
      const { workspace: shown } = first;
      return {
        request_id: params.request,
        at,
        workspace: shown,
        key,
        attempts,
        counted_in,
        checks,
        explanation,
        capture,
      };
    },
  } satisfies Partial<Handlers>;
}

type RequestQuery = Omit<QueryOf<"requests.list">, "cursor" | "limit">;
type Caller = Pick<ConsoleCall<"requests.list"> | StreamingCall, "held" | "workspace" | "auditSource"> &
  Pick<StreamingCall, "actor">;

/**
 * A page of the requests that match. `continued`: the caller's search has read an earlier page within the same call. Throws `forbidden`
 * for filters that the caller may not use.
 */
export async function findRequests(
  { reports, people }: Pick<ConsoleDependencies, "reports" | "people">,
  caller: Caller,
  query: RequestQuery,
  cursor: string | null,
  limit: number,
  continued = false,
): Promise<RequestPage> {
  const { text, sort = "-at" } = query;
  const filter = filterOf(caller, query);
  if (text === undefined) {
    if (sort === "-at") return await reports.requests(filter, cursor, limit);
    return await reports.sortedRequests(filter, sort, cursor, limit);
  }
  if (!meets(caller.held, "admin")) {
    throw new Failure("forbidden", "Only admins of the workspace can search captured bodies.", { param: "text" });
  }
  // Access to captured content is audited, page by page: a caller may send any cursor.
  const workspaceId = caller.workspace?.id ?? null;
  if (!continued) {
    await people.note({ action: "view", object: "captured request search", workspaceId }, caller.auditSource);
  }
  return await reports.requestsWithText(filter, text, cursor, limit);
}

function filterOf(caller: Caller, query: RequestQuery): RequestFilter {
  checkPerson(caller, query.person);
  const { tag } = query;
  const separator = tag?.indexOf("=") ?? -1;
  const value = separator === -1 ? undefined : tag?.slice(separator + 1);
  return {
    workspaceId: caller.workspace?.id ?? null,
    ...withoutUndefined({
      ...{ model: query.model, provider: query.provider, keyId: query.key, groupId: query.group },
      ...{ personId: query.person, search: query.search, endpoint: query.endpoint, outcome: query.outcome },
      ...{ status: query.status, errorCode: query.error_code, minMs: query.min_ms, userAgent: query.user_agent },
      ...{ guardrailId: query.guardrail, guardrailVerdict: query.guardrail_verdict },
      wouldRefuse: query.would_refuse === undefined ? undefined : (true as const),
      ...{ minCostUsd: query.min_cost, maxCostUsd: query.max_cost, from: query.from, to: query.to },
      tag: tag === undefined ? undefined : { name: separator === -1 ? tag : tag.slice(0, separator), value },
      visiblePerson: visiblePerson(caller) ?? undefined,
    }),
  };
}
