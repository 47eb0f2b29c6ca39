/** Parses a text that is a JSON object or list; undefined for anything else (a stream, a truncated text, a bare word). */
export function jsonOf(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses the beginning of a JSON object or list that was cut off: the last value may be shorter. undefined: it is no such text. */
export function jsonOfStart(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  /** Closing brackets of what is open. */
  const closers: string[] = [];
  let inString = false;
  /** The last end of a member or element, with what was open there. */
  let end = { at: 0, closers: "" };
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
      continue;
    }
    if (character === '"') inString = true;
    else if (character === "{" || character === "[") closers.push(character === "{" ? "}" : "]");
    else if (character === "}" || character === "]") closers.pop();
    if (character === ",") end = { at, closers: closers.toReversed().join("") };
    else if (character === "{" || character === "[") end = { at: at + 1, closers: closers.toReversed().join("") };
  }
  const rest = closers.toReversed().join("");
  const whole = inString ? `${text.replace(/\\(?:u[\da-fA-F]{0,3})?$/, "")}"${rest}` : text + rest;
  return jsonOf(whole) ?? jsonOf(text.slice(0, end.at) + end.closers);
}
