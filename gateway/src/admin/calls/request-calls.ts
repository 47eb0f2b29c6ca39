import type { QueryOf, RequestDetail } from "@sluice/contract";
import { meets } from "@sluice/contract/words";
import { Failure, type Workspace } from "#core/index.ts";
import type { Doer, ExplainStore, PeopleStore, ReportStore, RequestFilter } from "#ports/index.ts";
import type { Handlers } from "./handler.ts";
import { pageSize } from "./page-size.ts";

export interface RequestCallsHouse {
  readonly reports: Pick<ReportStore, "requests" | "attempts">;
  readonly explain: ExplainStore;
  readonly people: Pick<PeopleStore, "note">;
}

/** The calls about requests. */
export function requestCalls(house: RequestCallsHouse): Handlers<"requests.list" | "requests.show"> {
  return {
    "requests.list": async ({ query, workspace }) => {
      const filter = filterOf(query, workspace);
      const { data, next } = await house.reports.requests(filter, query.cursor ?? null, query.limit ?? pageSize);
      return { data: [...data], next };
    },
    "requests.show": async ({ params, workspace, held, doer }) => {
      const attempts = await house.reports.attempts(workspace?.id ?? null, params.request);
      const [first] = attempts;
      if (first === undefined) {
        throw new Failure("not_found", "There is no such request. Its entries may have been older than is kept.", {
          param: "request",
        });
      }
      const capture = meets(held, "admin") ? await house.explain.capture(params.request) : null;
      if (capture !== null) await noteLook(house, first, doer);
      return {
        request_id: params.request,
        at: first.at,
        workspace: first.workspace,
        key: first.key,
        attempts: [...attempts],
        explanation: await house.explain.explanation(params.request),
        capture,
      };
    },
  };
}

/** Whoever looks at what a program sent leaves a trace. */
async function noteLook(
  { people }: RequestCallsHouse,
  first: RequestDetail["attempts"][number],
  doer: Doer,
): Promise<void> {
  await people.note(
    { action: "view", object: `captured request ${first.request_id}`, workspaceId: first.workspace.id },
    doer,
  );
}

function filterOf(query: QueryOf<"requests.list">, workspace: Workspace | null): RequestFilter {
  const wanted: { [Name in keyof RequestFilter]: RequestFilter[Name] | undefined } = {
    workspaceId: workspace?.id ?? null,
    search: query.search,
    model: query.model,
    provider: query.provider,
    keyId: query.key,
    groupId: query.group,
    endpoint: query.endpoint,
    outcome: query.outcome,
    status: query.status,
    errorCode: query.error_code,
    minMs: query.min_ms,
    from: query.from,
    to: query.to,
  };
  return Object.fromEntries(
    Object.entries(wanted).filter(([, value]) => value !== undefined),
  ) as unknown as RequestFilter;
}
