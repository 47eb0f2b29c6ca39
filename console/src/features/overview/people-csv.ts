import type { AnswerOf } from "@sluice/contract";
import { csvText } from "./csv.ts";

type Line = AnswerOf<"usage.people">["data"][number];

const columns = [
  "user_id",
  "email",
  "name",
  "cost_usd",
  "requests",
  "failed_requests",
  "input_tokens",
  "output_tokens",
] as const;

/** The line for usage of no single person has no id. */
export function peopleCsv(lines: readonly Line[]): string {
  return csvText(
    columns,
    lines.map(({ person, ...figures }) => ({
      ...figures,
      user_id: person?.id ?? "",
      email: person?.email ?? "",
      name: person?.name ?? "",
    })),
  );
}
