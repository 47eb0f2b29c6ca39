import { withoutUndefined } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { type Handlers, pageSize } from "./calls.ts";

/** The audit log. */
export function reportHandlers({ reports }: Pick<ConsoleDependencies, "reports">) {
  return {
    "audit.list": async ({ query: { cursor, limit, ...filter }, workspace }) =>
      await reports.audit(
        { workspaceId: workspace?.id ?? null, ...withoutUndefined(filter) },
        cursor ?? null,
        limit ?? pageSize,
      ),
  } satisfies Partial<Handlers>;
}
