/** A line of CSV (RFC 4180) with a line feed. null is empty. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(field).join(",")}\n`;
}

function field(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  // Spreadsheets execute cells that start like a formula, and callers choose models, tags and user agents (OWASP, "CSV Injection").
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Streams a CSV file as fast as the client reads it. `name` without extension. */
export function csvResponse(name: string, lines: AsyncIterator<string>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await lines.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
    },
  });
}
