import { createHash } from "node:crypto";
import { Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, objectsOf, stringOf } from "../json-body.ts";
import { isSigned, sign } from "../seal.ts";

/**
 * Claude's newest models bind a thinking block to everything before it: the system prompt, the tools and the messages. Cache marks
 * are no part of that. Earlier thinking may be missing from the front only. Source: platform.claude.com, "Preserved thinking".
 */
const bindingModels = /claude-(?:[a-z]+-5-[5-9]|fable|mythos)/;

/** What was before a block, as its signature holds it; empty for models that bind nothing. */
export interface ThinkingPlace {
  readonly prefix: string;
  /** The signature of the thinking block before it; empty where there is none. */
  readonly previous: string;
}

const unbound: ThinkingPlace = { prefix: "", previous: "" };

/** Where the answer's own thinking stands: behind all of the request. */
export function placeOfAnswer(model: string, body: JsonObject): ThinkingPlace {
  if (!bindingModels.test(model)) return unbound;
  const before = [...blocksOf(body)];
  return placeBehind(body, before);
}

/** A signature of a thinking block: what it says, and where it stands. */
export function signThinking(thinking: string, { prefix, previous }: ThinkingPlace): string {
  const signed = sign("thinking", thinking);
  if (prefix === "") return signed;
  return `${signed}.${sign("thinking-prefix", prefix)}.${digest(previous)}`;
}

/**
 * Where the blocks stand that this body sends back although what is before them has changed. Throws Refusal for one that nobody signed,
 * and for one that was moved unless the body asks for its removal.
 */
export function movedThinking(body: JsonObject, betas: string): readonly string[] {
  const behavior = objectOf(objectOf(body["thinking"])["block_binding"])["prefix_mismatch_behavior"];
  if (behavior !== undefined && !betas.includes("thinking-binding-controls-2026-08-01")) {
    throw new Refusal(400, "thinking.block_binding: Extra inputs are not permitted");
  }
  const before: PlacedBlock[] = [];
  const moved: string[] = [];
  for (const placed of blocksOf(body)) {
    const { block, at } = placed;
    if (block["type"] === "thinking" && !standsRight(body, before, block, at)) {
      if (behavior !== "drop_block") {
        throw new Refusal(400, `${at}: Invalid \`thinking\` block. The block is bound to a different conversation.`);
      }
      moved.push(at);
    }
    before.push(placed);
  }
  return moved;
}

interface PlacedBlock {
  readonly role: string;
  readonly block: JsonObject;
  /** `messages.1.content.0` */
  readonly at: string;
}

function standsRight(body: JsonObject, before: readonly PlacedBlock[], block: JsonObject, at: string): boolean {
  const [own = "", prefix, previous] = stringOf(block["signature"]).split(".");
  if (!isSigned("thinking", stringOf(block["thinking"]), own)) {
    throw new Refusal(400, `${at}: Invalid \`signature\` in \`thinking\` block`);
  }
  if (prefix === undefined) return true;
  const place = placeBehind(body, before);
  const missesOnlyTheFront = place.previous === "" || digest(place.previous) === previous;
  return missesOnlyTheFront && isSigned("thinking-prefix", place.prefix, prefix);
}

function placeBehind(body: JsonObject, before: readonly PlacedBlock[]): ThinkingPlace {
  const { system } = body;
  const said = before.filter(({ block }) => !isThinking(block)).map(({ role, block }) => [role, block]);
  const whole = [
    typeof system === "string" ? [{ type: "text", text: system }] : (system ?? []),
    body["tools"] ?? [],
    said,
  ];
  const previous = before.findLast(({ block }) => isThinking(block))?.block;
  return {
    prefix: digest(JSON.stringify(whole, (name, value: unknown) => (name === "cache_control" ? undefined : value))),
    previous: previous === undefined ? "" : stringOf(previous["signature"] ?? previous["data"]),
  };
}

function* blocksOf(body: JsonObject): Iterable<PlacedBlock> {
  for (const [index, { role, content }] of objectsOf(body["messages"]).entries()) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content);
    for (const [place, block] of blocks.entries()) {
      yield { role: stringOf(role), block, at: `messages.${index}.content.${place}` };
    }
  }
}

function isThinking(block: JsonObject): boolean {
  return block["type"] === "thinking" || block["type"] === "redacted_thinking";
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 24);
}

/** Betas that a request names, in its header or (on clouds) in its body. */
export function betasOf(headers: Readonly<Record<string, string>>, body: JsonObject): string {
  const named = body["anthropic_beta"];
  return [headers["anthropic-beta"] ?? "", ...(Array.isArray(named) ? named.map(stringOf) : [])].join();
}

/** What the answer says of blocks that were removed. */
export function transformationsOf(moved: readonly string[]): JsonObject {
  if (moved.length === 0) return {};
  return {
    input_transformations: moved.map((path) => ({ type: "thinking_dropped", path, reason: "prefix_binding_mismatch" })),
  };
}
