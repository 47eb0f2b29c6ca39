import type { ReportStore } from "#ports/index.ts";
import type { Handlers } from "./handler.ts";
import { pageSize } from "./page-size.ts";

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
