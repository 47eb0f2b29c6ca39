import { Failure } from "#core/index.ts";
import type { ReplyFacts } from "../dialect.ts";
import { JsonInvalid, readSpan, scanObject, valueAt } from "../json/scan.ts";
import { textOf } from "../json/value.ts";
import { readServed } from "../usage/read-served.ts";
import { readConverseUsage } from "./usage.ts";

const wanted: ReadonlySet<string> = new Set(["output", "usage", "serviceTier", "trace", "message"]);

/** Reads a whole Converse reply: that it is one, and what it used. */
export function readConverseReply(body: Uint8Array): ReplyFacts {
  try {
    const members = scanObject(body, wanted);
    const output = members.get("output");
    const usage = valueAt(body, members.get("usage"));
    const message = members.get("message");
    return {
      usage: readConverseUsage(usage),
      served: readServed(
        { serviceTier: valueAt(body, members.get("serviceTier")), trace: valueAt(body, members.get("trace")) },
        null,
      ),
      errorMessage: output === undefined && message !== undefined ? wordsOf(readSpan(body, message)) : null,
      outputEstimate: output === undefined ? 0 : Math.ceil((output.end - output.start) / 4),
      id: null,
    };
  } catch (thrown) {
    if (!(thrown instanceof JsonInvalid)) throw thrown;
    throw new Failure("upstream_error", "The upstream's answer is not valid JSON.", {
      retry: "other",
      unhealthy: true,
      cause: thrown,
    });
  }
}

function wordsOf(message: unknown): string {
  return textOf(message) ?? JSON.stringify(message);
}
