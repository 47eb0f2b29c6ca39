import { type Answer, type AnswerBlock, bounds, Failure } from "#core/index.ts";
import { plainName } from "../anthropic-messages/safe-name.ts";
import type { AnswerSource } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseReply, textOf } from "../json-value.ts";
import { warnOfStranger } from "../unread.ts";
import { readFinish } from "./finish.ts";
import { readCitation } from "./read-citations.ts";
import { converseSeal } from "./reasoning-seal.ts";
import { readConverseUsage } from "./usage.ts";

export function readConverseAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const reply = parseReply(body);
  const message = objectOf(reply["output"])["message"];
  if (!isObject(message)) {
    throw new Failure("upstream_error", "The upstream's answer holds no message.", { retry: "other", unhealthy: true });
  }
  return {
    id: null,
    model: null,
    blocks: arrayOf(message["content"]).flatMap((block) => readBlock(objectOf(block), source)),
    finish: readFinish(reply["stopReason"]),
    usage: readConverseUsage(reply["usage"])?.usage ?? null,
  };
}

/** Blocks are unions of one member; those that nobody else could show (search results, guards) are left out with a warning. */
function readBlock(block: JsonObject, source: AnswerSource): AnswerBlock[] {
  const { text, toolUse, reasoningContent, image, citationsContent } = block;
  if (typeof text === "string") return text === "" ? [] : [{ kind: "text", text }];
  if (isObject(toolUse)) return [readCall(toolUse, source)];
  if (isObject(reasoningContent)) return readReasoning(reasoningContent, source);
  if (isObject(citationsContent)) {
    const said = arrayOf(citationsContent["content"]).map((part) => textOf(objectOf(part)["text"]) ?? "");
    if (said.join("") === "") return [];
    const citations = arrayOf(citationsContent["citations"])
      .slice(0, bounds.blockCitationsMax)
      .flatMap((citation) => readCitation(objectOf(citation)) ?? []);
    return [{ kind: "text", text: said.join(""), ...(citations.length === 0 ? {} : { citations }) }];
  }
  const data = textOf(objectOf(objectOf(image)["source"])["bytes"]);
  if (data === null) {
    warnOfStranger("blocks", Object.keys(block)[0], source.warn);
    return [];
  }
  const format = textOf(objectOf(image)["format"]) ?? "png";
  return [{ kind: "image", source: { kind: "base64", mediaType: `image/${format}`, data } }];
}

function readCall(toolUse: JsonObject, source: AnswerSource): AnswerBlock {
  const { toolUseId, name, input } = toolUse;
  return {
    kind: "tool-call",
    id: textOf(toolUseId) ?? source.newId("call_"),
    name: plainName(textOf(name) ?? ""),
    argumentsText: JSON.stringify(input ?? {}),
    seal: null,
  };
}

function readReasoning(content: JsonObject, source: AnswerSource): AnswerBlock[] {
  const redacted = textOf(content["redactedContent"]);
  if (redacted !== null) {
    return [{ kind: "reasoning", text: "", seal: converseSeal(redacted, source.account), redacted: true }];
  }
  const said = objectOf(content["reasoningText"]);
  const text = textOf(said["text"]) ?? "";
  const signature = textOf(said["signature"]);
  if (text === "" && signature === null) return [];
  const seal = signature === null ? null : converseSeal(signature, source.account);
  return [{ kind: "reasoning", text, seal, redacted: false }];
}
