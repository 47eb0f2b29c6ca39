import { createHash } from "node:crypto";
import { Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, objectsOf, stringOf } from "../json-body.ts";
import { isSigned, sign } from "../seal.ts";

/**
 * Claude's newest models bind a thinking block to everything before it: the system prompt, the tools and the messages, but not
 * cache_control. Earlier thinking may only be missing at the front. Source: platform.claude.com, "Preserved thinking".
 */
const bindingModels = /claude-(?:[a-z]+-5-[5-9]|fable|mythos)/;

/** The content before a block, as part of its signature; empty for models without binding. */
export interface ThinkingBinding {
  readonly prefix: string;
  /** The signature of the previous thinking block, or empty. */
  readonly previous: string;
}

const unbound: ThinkingBinding = { prefix: "", previous: "" };

/** The binding of the answer's own thinking, which follows the whole request. */
export function bindingOfAnswer(model: string, body: JsonObject): ThinkingBinding {
  if (!bindingModels.test(model)) return unbound;
  const before = [...blocksOf(body)];
  return bindingAfter(body, before);
}

/** The signature of a thinking block: its text and its binding. */
export function signThinking(thinking: string, { prefix, previous }: ThinkingBinding): string {
  const signed = sign("thinking", thinking);
  if (prefix === "") return signed;
  return `${signed}.${sign("thinking-prefix", prefix)}.${digest(previous)}`;
}

/**
 * Positions of thinking blocks that were sent back although the content before them has changed. Throws Refusal for a block with an
 * invalid signature, and for a moved block unless the body requests its removal.
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
    if (block["type"] === "thinking" && !isInPlace(body, before, block, at)) {
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

function isInPlace(body: JsonObject, before: readonly PlacedBlock[], block: JsonObject, at: string): boolean {
  const [textSignature = "", prefix, previous] = stringOf(block["signature"]).split(".");
  if (!isSigned("thinking", stringOf(block["thinking"]), textSignature)) {
    throw new Refusal(400, `${at}: Invalid \`signature\` in \`thinking\` block`);
  }
  if (prefix === undefined) return true;
  const binding = bindingAfter(body, before);
  const followsPrevious = binding.previous === "" || digest(binding.previous) === previous;
  return followsPrevious && isSigned("thinking-prefix", binding.prefix, prefix);
}

function bindingAfter(body: JsonObject, before: readonly PlacedBlock[]): ThinkingBinding {
  const { system } = body;
  const content = before.filter(({ block }) => !isThinking(block)).map(({ role, block }) => [role, block]);
  const whole = [
    typeof system === "string" ? [{ type: "text", text: system }] : (system ?? []),
    body["tools"] ?? [],
    content,
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
    for (const [blockIndex, block] of blocks.entries()) {
      yield { role: stringOf(role), block, at: `messages.${index}.content.${blockIndex}` };
    }
  }
}

function isThinking(block: JsonObject): boolean {
  return block["type"] === "thinking" || block["type"] === "redacted_thinking";
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 24);
}

/** The betas of a request, from its header or (on clouds) its body. */
export function betasOf(headers: Readonly<Record<string, string>>, body: JsonObject): string {
  const betas = body["anthropic_beta"];
  return [headers["anthropic-beta"] ?? "", ...(Array.isArray(betas) ? betas.map(stringOf) : [])].join();
}

/** Reports removed blocks in the answer. */
export function transformationsOf(moved: readonly string[]): JsonObject {
  if (moved.length === 0) return {};
  return {
    input_transformations: moved.map((path) => ({ type: "thinking_dropped", path, reason: "prefix_binding_mismatch" })),
  };
}
