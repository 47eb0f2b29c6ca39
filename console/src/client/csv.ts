/** RFC 4180, with line feeds. Null is empty. */
export function csvText<Column extends string>(
  columns: readonly Column[],
  rows: readonly { readonly [Of in Column]: string | number | null }[],
): string {
  const lines = rows.map((row) => columns.map((column) => field(row[column])).join(","));
  return `${[columns.join(","), ...lines].join("\n")}\n`;
}

function field(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  // Spreadsheets execute cells that start like a formula, and names are chosen by users (OWASP, "CSV Injection").
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
