/**
 * JSON that was cut off, closed where it ends: what is open of texts, lists and objects is ended, and a member that has only begun is
 * left out. null: it is no JSON even so.
 */
export function readCutJson(text: string): unknown {
  const whole = openAt(text);
  const before = text.slice(0, whole.lastComma);
  for (const candidate of [text + whole.closing, before + openAt(before).closing]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // The next one leaves more of it out.
    }
  }
  return null;
}

interface Open {
  /** Ends what is open at the end of the text. */
  readonly closing: string;
  /** Where a member began that may not be whole; 0: there is none. */
  readonly lastComma: number;
}

function openAt(text: string): Open {
  const open: string[] = [];
  let inText = false;
  let lastComma = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (inText) {
      if (letter === "\\") at++;
      else if (letter === '"') inText = false;
    } else if (letter === '"') inText = true;
    else if (letter === "{") open.push("}");
    else if (letter === "[") open.push("]");
    else if (letter === "}" || letter === "]") open.pop();
    else if (letter === ",") lastComma = at;
  }
  return { closing: (inText ? '"' : "") + open.reverse().join(""), lastComma };
}
