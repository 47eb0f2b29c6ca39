import type { ReplyFacts } from "../dialect.ts";
import { brokenReply } from "../errors/upstream-errors.ts";
import type { Span } from "../json/cursor.ts";
import { readSpan, scanObject } from "../json/scan.ts";
import { countOf, isObject, textOf } from "../json/value.ts";
import { readLabel, readSmall } from "../request/members.ts";
import { readServed } from "../usage/read-served.ts";
import { errorMessage } from "./error.ts";
import { readMessagesUsage } from "./usage.ts";

const wanted: ReadonlySet<string> = new Set(["id", "model", "content", "usage", "error", "input_tokens", "container"]);

/** Reads a whole message: that it is one, and what it used. The bytes themselves go on unchanged. */
export function readMessagesReply(body: Uint8Array): ReplyFacts {
  const members = scanReply(body);
  const content = members.get("content");
  const error = members.get("error");
  if (content === undefined && error === undefined) throw brokenReply("is not a message");
  const usageAt = members.get("usage");
  const usage = usageAt === undefined ? null : readSpan(body, usageAt);
  return {
    usage: readMessagesUsage(usage),
    served: readServed({ model: readSmallMember(body, members.get("model")) }, usage),
    errorMessage: content === undefined && error !== undefined ? errorMessage(readSpan(body, error)) : null,
    outputEstimate: content === undefined ? 0 : Math.ceil((content.end - content.start) / 4),
    id: readLabel(body, members.get("id")),
    made: containerIn(members.has("container") ? readSmallMember(body, members.get("container")) : null),
  };
}

/** The id of the container that code ran in. */
export function containerIn(container: unknown): readonly string[] {
  const id = isObject(container) ? textOf(container["id"]) : null;
  return id === null ? [] : [id];
}

function readSmallMember(body: Uint8Array, span: Span | undefined): unknown {
  return span === undefined ? null : readSmall(body, span);
}

/** Reads the answer of a count: it used nothing. */
export function readCountReply(body: Uint8Array): ReplyFacts {
  const members = scanReply(body);
  const counted = members.get("input_tokens");
  const error = members.get("error");
  if (counted === undefined ? error === undefined : countOf(readSpan(body, counted)) === null) {
    throw brokenReply("is not a count of tokens");
  }
  return {
    usage: null,
    errorMessage: counted === undefined && error !== undefined ? errorMessage(readSpan(body, error)) : null,
    outputEstimate: 0,
    id: null,
  };
}

function scanReply(body: Uint8Array): Map<string, Span> {
  try {
    return scanObject(body, wanted);
  } catch (thrown) {
    throw brokenReply("is not valid JSON", thrown);
  }
}
