/** The data of server-sent events that are whole and JSON, in their order. */
export function eventData(text: string): readonly unknown[] {
  const out: unknown[] = [];
  let data = "";
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.startsWith("data:")) data += (data === "" ? "" : "\n") + line.slice(5).trimStart();
    else if (line === "" && data !== "") {
      push(out, data);
      data = "";
    }
  }
  if (data !== "") push(out, data);
  return out;
}

function push(out: unknown[], data: string): void {
  try {
    out.push(JSON.parse(data));
  } catch {
    // `[DONE]`, or an event that was cut.
  }
}

/** What was answered, whole or as a stream. */
export function isStream(text: string): boolean {
  return /^\s*(?:data|event|id|retry|):/.test(text);
}
