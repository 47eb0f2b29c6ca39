import { type Answer, type AnswerBlock, Failure, type Seal } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, parseReply, textOf } from "../json-value.ts";
import { warnOfStranger } from "../unread.ts";
import { readCitations } from "./read-citations.ts";
import { plainName } from "./safe-name.ts";
import { readFinish } from "./stop-reason.ts";
import { streamFailure } from "./stream-failure.ts";
import { readMessagesUsage } from "./usage.ts";

/** A whole message in neutral form. Blocks of server tools have none. */
export function readMessagesAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const message = parseReply(body);
  if (!Array.isArray(message["content"])) {
    if (isObject(message["error"])) throw streamFailure(message["error"]);
    throw new Failure("upstream_error", "The upstream's answer is not a message.", { retry: "other", unwell: true });
  }
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

function readBlock(block: JsonObject, source: AnswerSource): AnswerBlock[] {
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
