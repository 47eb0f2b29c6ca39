import {
  type Answer,
  type AnswerBlock,
  bounds,
  type Citation,
  Failure,
  type Finish,
  type FinishReason,
  type Seal,
} from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { arrayOf, countOf, isObject, type JsonObject, objectOf, parseReply, textOf } from "../json/value.ts";
import { fileCitation, urlCitation } from "../turn/citations.ts";
import { plainName } from "../turn/tool-calls.ts";
import { warnOfStranger } from "../turn/warnings.ts";
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

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["tool_use", "tool-calls"],
  ["max_tokens", "length"],
  ["stop_sequence", "stop-sequence"],
  ["guardrail_intervened", "content-filter"],
  ["content_filtered", "content-filter"],
  ["malformed_model_output", "error"],
  ["malformed_tool_use", "error"],
  ["model_context_window_exceeded", "context-length"],
]);

/** A reason that is not known ended it well. Which stop sequence was met is not told. */
export function readFinish(stopReason: unknown): Finish {
  return { reason: reasons.get(textOf(stopReason) ?? "") ?? "stop", stopSequence: null };
}

/** One citation of a text: of a page of the web, of a search result, or of a document of the request. */
export function readCitation(citation: JsonObject): Citation | null {
  const quote = arrayOf(citation["sourceContent"])
    .map((part) => textOf(objectOf(part)["text"]) ?? "")
    .join("");
  const more = { quote: quote === "" ? null : quote };
  const title = textOf(citation["title"]);
  const location = objectOf(citation["location"]);
  if (isObject(location["web"])) return urlCitation(textOf(location["web"]["url"]), title, more);
  const from = textOf(citation["source"]);
  if (isObject(location["searchResultLocation"])) return urlCitation(from, title, more);
  const [place] = Object.values(location);
  return fileCitation({ fileId: null, name: title ?? from, index: countOf(objectOf(place)["documentIndex"]) }, more);
}

/** A signature, or the bytes of redacted reasoning, as a seal that only this account's models read again. */
export function converseSeal(data: string, account: string): Seal {
  return { dialect: "bedrock-converse", account, data, itemId: null };
}
