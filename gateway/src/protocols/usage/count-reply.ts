import type { ReplyFacts } from "../dialect.ts";
import { errorText, invalidReply, scanReply } from "../errors/upstream-errors.ts";
import { readSpan, valueAt } from "../json/scan.ts";
import { countOf } from "../json/value.ts";

/** Reads the answer of a token count, which uses nothing. `mayOmit`: a zero may be left out. */
export function countReplyReader(name: string, { mayOmit = false } = {}): (body: Uint8Array) => ReplyFacts {
  const wanted: ReadonlySet<string> = new Set([name, "error"]);
  const why = "is not a count of tokens";
  return (body) => {
    const members = scanReply(body, wanted, why);
    const count = members.get(name);
    const hasError = count === undefined && members.has("error");
    const isMissing = count === undefined && !hasError && !mayOmit;
    if (isMissing || (count !== undefined && countOf(readSpan(body, count)) === null)) throw invalidReply(why);
    const errorMessage = hasError ? errorText(valueAt(body, members.get("error"))) : null;
    return { usage: null, errorMessage, outputEstimate: 0, id: null };
  };
}
