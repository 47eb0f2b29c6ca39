import { withoutUndefined } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { type Handlers, pageSize } from "./calls.ts";
import { countOf } from "./list-count.ts";

/** The audit log. */
export function reportHandlers({ reports }: Pick<ConsoleDependencies, "reports">) {
  return {
    "audit.list": async ({ query: { cursor, limit, ...query }, workspace }) => {
      const filter = { workspaceId: workspace?.id ?? null, ...withoutUndefined(query) };
      const [page, count] = await Promise.all([
        reports.audit(filter, cursor ?? null, limit ?? pageSize),
        countOf({ reports }, { list: "audit", filter }),
      ]);
      return { ...page, ...count };
    },
  } satisfies Partial<Handlers>;
}
