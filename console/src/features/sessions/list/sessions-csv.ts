import type { RequestSession } from "@sluice/contract";
import { csvText } from "../../../client/csv.ts";

const columns = [
  ...(["session", "source", "workspace", "key", "user", "agent", "models", "first_at", "last_at"] as const),
  ...(["requests", "turns", "errors", "input_tokens", "cache_read_tokens", "cache_write_tokens"] as const),
  ...(["output_tokens", "cost_usd"] as const),
] as const;

export function sessionsCsv(sessions: readonly RequestSession[]): string {
  return csvText(
    columns,
    sessions.map(({ workspace, key, person, models, first_at, last_at, ...figures }) => ({
      ...figures,
      workspace: workspace.slug,
      key: key.name,
      user: person?.email ?? "",
      models: models.join(" "),
      first_at: new Date(first_at).toISOString(),
      last_at: new Date(last_at).toISOString(),
    })),
  );
}
