import { type Answer, type AnswerBlock, Failure, type Seal } from "#core/index.ts";
import type { AnswerSource, Warn } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, parseReply, textOf } from "../json/value.ts";
import { plainName } from "../turn/tool-calls.ts";
import { warnOfCaller, warnOfStranger, warnOfUnread } from "../turn/warnings.ts";
import { messagesFailure } from "./error.ts";
import { readCitations } from "./read-citations.ts";
import { readFinish } from "./stop-reason.ts";
import { readMessagesUsage } from "./usage.ts";

/** A whole message in neutral form. Blocks of server tools have none. */
export function readMessagesAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const message = parseReply(body);
  if (!Array.isArray(message["content"])) {
    if (isObject(message["error"])) throw messagesFailure(message["error"]);
    throw new Failure("upstream_error", "The upstream's answer is not a message.", { retry: "other", unhealthy: true });
  }
  warnOfUnread(message, ofMessage, "a message", source.warn);
  return {
    id: textOf(message["id"]),
    model: textOf(message["model"]),
    blocks: arrayOf(message["content"]).flatMap((block) => (isObject(block) ? readBlock(block, source) : [])),
    finish: readFinish(message),
    usage: readMessagesUsage(message["usage"])?.usage ?? null,
  };
}

/** A seal that this account made. */
export function sealOf(data: string, source: AnswerSource): Seal {
  return { dialect: "anthropic-messages", account: source.account, data, itemId: null };
}

/** What is read of a message, and what labels it: a container, and what of the caller's context was edited, are the vendor's own. */
export const ofMessage: ReadonlySet<string> = new Set([
  ...["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage", "diagnostics"],
]);

const ofBlocks: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ["text", new Set(["type", "text", "citations"])],
  ["thinking", new Set(["type", "thinking", "signature"])],
  ["redacted_thinking", new Set(["type", "data"])],
  ["tool_use", new Set(["type", "id", "name", "input", "caller"])],
]);

export function warnOfBlock(block: JsonObject, warn: Warn): void {
  const read = ofBlocks.get(block["type"]);
  if (read === undefined) return;
  warnOfUnread(block, read, "a block", warn);
  warnOfCaller(block, warn);
}

function readBlock(block: JsonObject, source: AnswerSource): AnswerBlock[] {
  warnOfBlock(block, source.warn);
  switch (block["type"]) {
    case "text": {
      const text = textOf(block["text"]) ?? "";
      if (text === "") return [];
      const citations = readCitations(block["citations"], source.warn);
      return [{ kind: "text", text, ...(citations.length === 0 ? {} : { citations }) }];
    }
    case "thinking": {
      const signature = textOf(block["signature"]) ?? "";
      const seal = signature === "" ? null : sealOf(signature, source);
      return [{ kind: "reasoning", text: textOf(block["thinking"]) ?? "", seal, redacted: false }];
    }
    case "redacted_thinking": {
      const seal = sealOf(textOf(block["data"]) ?? "", source);
      return [{ kind: "reasoning", text: "", seal, redacted: true }];
    }
    case "tool_use": {
      const id = textOf(block["id"]) ?? source.newId("toolu_");
      const name = plainName(textOf(block["name"]) ?? "");
      return [{ kind: "tool-call", id, name, argumentsText: JSON.stringify(block["input"] ?? {}), seal: null }];
    }
    default:
      warnOfStranger("blocks", block["type"], source.warn);
      return [];
  }
}
