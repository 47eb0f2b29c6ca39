const levels: Readonly<Record<string, string>> = {
  debug: "\u001b[90mdebug\u001b[39m",
  info: "\u001b[36minfo \u001b[39m",
  warn: "\u001b[33mwarn \u001b[39m",
  error: "\u001b[31merror\u001b[39m",
};
const dim = (text: string): string => `\u001b[2m${text}\u001b[22m`;

/**
 * One JSON line of the log as a person reads it: time of day, level, message, then the fields. Empty of audit entries, which are for
 * other programs: a person has the console.
 */
export function prettyLine(line: string): string {
  const parsed: unknown = JSON.parse(line);
  if (typeof parsed !== "object" || parsed === null) return line;
  if ("event" in parsed && parsed.event === "audit") return "";
  const { level, time, msg, ...fields } = { level: "info", time: "", msg: "", ...parsed };
  const shown = Object.entries(fields).map(([name, value]) => `${dim(`${name}=`)}${shownValue(value)}`);
  return `${[dim(time.slice(11, 23)), levels[level] ?? level, escaped(msg), ...shown].join("  ")}\n`;
}

function shownValue(value: unknown): string {
  if (typeof value === "string" && /^[\w./:@-]+$/.test(value)) return value;
  // JSON leaves those behind ASCII as they are, and a terminal takes U+009B for the beginning of an order.
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f]/g, (found) => `\\u00${found.charCodeAt(0).toString(16)}`);
}

/** What came from outside must not move the cursor of whoever watches. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}
