import type { QueryOf, RequestDetail } from "@sluice/contract";
import { meets } from "@sluice/contract/words";
import { Failure, type Workspace } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import type { AuditSource, ExplainStore, ReportStore, RequestFilter } from "#ports/index.ts";
import { type Handlers, pageSize } from "./handler.ts";
import { checkPerson, seenOnly, seenPerson } from "./seen-people.ts";

export interface RequestHandlerDependencies {
  readonly reports: Pick<ReportStore, "requests" | "attempts">;
  readonly explain: ExplainStore;
  readonly people: Pick<PeopleStore, "note">;
}

/** The calls about requests. */
export function requestHandlers(dependencies: RequestHandlerDependencies): Handlers<"requests.list" | "requests.show"> {
  return {
    "requests.list": async (call) => {
      const { query, workspace } = call;
      checkPerson(call, query.person);
      const filter = { ...filterOf(query, workspace), ...seenOnly(call) };
      const { data, next } = await dependencies.reports.requests(filter, query.cursor ?? null, query.limit ?? pageSize);
      return { data: [...data], next };
    },
    "requests.show": async (call) => {
      const { params, workspace, held, auditSource } = call;
      const attempts = await dependencies.reports.attempts(workspace?.id ?? null, params.request);
      const [first] = attempts;
      const own = seenPerson(call);
      // One of somebody else looks like one that is not there.
      if (first === undefined || (own !== null && first.person !== null && first.person.id !== own)) {
        throw new Failure("not_found", "There is no such request. Its entries may have been older than is kept.", {
          param: "request",
        });
      }
      const capture = meets(held, "admin") ? await dependencies.explain.capture(params.request) : null;
      if (capture !== null) await noteLook(dependencies, first, auditSource);
      return {
        request_id: params.request,
        at: first.at,
        workspace: first.workspace,
        key: first.key,
        attempts: [...attempts],
        explanation: await dependencies.explain.explanation(params.request),
        capture,
      };
    },
  };
}

/** Whoever looks at what a program sent leaves a trace. */
async function noteLook(
  { people }: RequestHandlerDependencies,
  first: RequestDetail["attempts"][number],
  auditSource: AuditSource,
): Promise<void> {
  await people.note(
    { action: "view", object: `captured request ${first.request_id}`, workspaceId: first.workspace.id },
    auditSource,
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
    personId: query.person,
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

export interface AuditHandlerDependencies {
  readonly reports: Pick<ReportStore, "audit">;
}

/** The calls about the audit log. */
export function auditHandlers(dependencies: AuditHandlerDependencies): Handlers<"audit.list"> {
  return {
    "audit.list": async ({ query, workspace }) => {
      const { cursor, limit, ...asked } = query;
      const filter = { workspaceId: workspace?.id ?? null, ...given(asked) };
      const { data, next } = await dependencies.reports.audit(filter, cursor ?? null, limit ?? pageSize);
      return { data: [...data], next };
    },
  };
}

/** Without what was not asked. */
function given<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
