import type { AnswerOf } from "@sluice/contract";

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

/** RFC 4180, with line feeds. The line of no one person has no id. */
export function peopleCsv(lines: readonly Line[]): string {
  const rows = lines.map(({ person, ...figures }) => {
    const row = { ...figures, user_id: person?.id ?? "", email: person?.email ?? "", name: person?.name ?? "" };
    return columns.map((column) => field(row[column])).join(",");
  });
  return `${[columns.join(","), ...rows].join("\n")}\n`;
}

function field(value: string | number): string {
  if (typeof value === "number") return String(value);
  // Spreadsheets run a cell that begins like a formula, and people choose their names (OWASP, "CSV Injection").
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
