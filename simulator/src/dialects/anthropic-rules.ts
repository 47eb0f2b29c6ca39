import { Refusal } from "../dialect.ts";
import { isObject, type JsonObject, objectsOf, stringOf } from "../json-body.ts";

/** Throws Refusal for messages that the Messages API would refuse. */
export function refuseMessages(body: JsonObject, version: string): void {
  if (!Array.isArray(body["messages"])) throw new Refusal(400, "messages: Field required");
  const messages = objectsOf(body["messages"]);
  if (messages.length === 0) throw new Refusal(400, "messages: at least one message is required");
  for (const [index, message] of messages.entries()) {
    refuseMessage(message, index, index === messages.length - 1);
    if (version === "2026-10-21") refuseOldShapes(message, index);
  }
  const turns = mergeTurns(messages);
  const first = turns.find((turn) => turn.role !== "system");
  if (first?.role !== "user") throw new Refusal(400, 'messages: first message must use the "user" role');
  refuseLooseResults(turns);
  refuseMissingThinking(body, turns);
}

interface Turn {
  readonly role: string;
  readonly blocks: JsonObject[];
  /** The index of its first message. */
  readonly index: number;
}

/** Consecutive messages of one role form one turn. */
function mergeTurns(messages: readonly JsonObject[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const role = stringOf(message["role"]);
    const { content } = message;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : [...objectsOf(content)];
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, blocks, index });
  }
  return turns;
}

function refuseMessage(message: JsonObject, index: number, last: boolean): void {
  const at = `messages.${index}`;
  const { role, content } = message;
  if (role !== "user" && role !== "assistant" && role !== "system") {
    throw new Refusal(400, `${at}.role: Input should be 'user', 'assistant' or 'system'`);
  }
  if (typeof content !== "string" && !Array.isArray(content)) throw new Refusal(400, `${at}.content: Field required`);
  if (content.length === 0 && !(last && role === "assistant")) {
    throw new Refusal(
      400,
      `${at}: all messages must have non-empty content except for the optional final assistant message`,
    );
  }
  for (const [place, block] of objectsOf(content).entries()) refuseBlock(block, `${at}.content.${place}`, role);
}

function refuseBlock(block: JsonObject, at: string, role: string): void {
  const type = block["type"];
  if (typeof type !== "string") throw new Refusal(400, `${at}.type: Field required`);
  if (type === "text" && stringOf(block["text"]) === "") {
    throw new Refusal(400, "messages: text content blocks must be non-empty");
  }
  if (type === "tool_use") {
    if (role !== "assistant")
      throw new Refusal(400, `${at}: \`tool_use\` blocks can only be in \`assistant\` messages`);
    if (!/^[a-zA-Z0-9_-]+$/.test(stringOf(block["id"]))) {
      throw new Refusal(400, `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
    }
    if (!isObject(block["input"])) throw new Refusal(400, `${at}.tool_use.input: Input should be a valid dictionary`);
  }
  if (type === "tool_result") {
    if (role !== "user") throw new Refusal(400, `${at}: \`tool_result\` blocks can only be in \`user\` messages`);
    const empty = objectsOf(block["content"]).some((one) => one["type"] === "text" && stringOf(one["text"]) === "");
    if (empty) throw new Refusal(400, "messages: text content blocks must be non-empty");
  }
  if (type === "image") refuseImage(block, at);
}

function refuseImage(block: JsonObject, at: string): void {
  const source = block["source"];
  if (!isObject(source)) throw new Refusal(400, `${at}.image.source: Field required`);
  const { type, media_type: mediaType, data, url } = source;
  if (type === "base64") {
    if (!/^image\/(?:jpeg|png|gif|webp)$/.test(stringOf(mediaType))) {
      throw new Refusal(
        400,
        `${at}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
      );
    }
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(stringOf(data)))
      throw new Refusal(400, `${at}.image.source.base64.data: invalid base64 data`);
  } else if (type === "url" && !/^https?:\/\//.test(stringOf(url))) {
    throw new Refusal(400, `${at}.image.source.url.url: Only HTTP and HTTPS URLs are supported`);
  }
}

/** Formats that version 2026-10-21 no longer accepts. */
function refuseOldShapes(message: JsonObject, index: number): void {
  for (const [place, block] of objectsOf(message["content"]).entries()) {
    const at = `messages.${index}.content.${place}`;
    if (message["role"] === "assistant" && block["type"] === "document") {
      throw new Refusal(400, `${at}: \`document\` blocks are not permitted in \`assistant\` messages`);
    }
    const { citations } = block;
    if (message["role"] === "user" && block["type"] === "text" && Array.isArray(citations) && citations.length > 0) {
      throw new Refusal(400, `${at}.text.citations: Extra inputs are not permitted`);
    }
  }
}

/** Every tool_use must be answered in the next turn, and every tool_result must answer one of the previous turn. */
function refuseLooseResults(turns: readonly Turn[]): void {
  for (const [place, turn] of turns.entries()) {
    const before = idsOf(turns[place - 1], "tool_use", "id");
    const stray = [...idsOf(turn, "tool_result", "tool_use_id")].find((id) => !before.has(id));
    if (stray !== undefined) {
      throw new Refusal(
        400,
        `messages.${turn.index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. ` +
          "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
      );
    }
    const answered = idsOf(turns[place + 1], "tool_result", "tool_use_id");
    const open = [...idsOf(turn, "tool_use", "id")].filter((id) => !answered.has(id));
    if (open.length > 0) {
      throw new Refusal(
        400,
        `messages.${turn.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
          `${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
  }
}

function idsOf(turn: Turn | undefined, type: string, field: string): ReadonlySet<string> {
  const blocks = turn?.blocks.filter((block) => block["type"] === type) ?? [];
  return new Set(blocks.map((block) => stringOf(block[field])));
}

/** With a thinking budget, a turn with tool calls that were just answered must start with its thinking. */
function refuseMissingThinking(body: JsonObject, turns: readonly Turn[]): void {
  const { thinking } = body;
  if (!isObject(thinking) || thinking["type"] !== "enabled") return;
  const last = turns.at(-1);
  const before = turns.at(-2);
  if (before === undefined || !last?.blocks.some((block) => block["type"] === "tool_result")) return;
  const type = stringOf(before.blocks[0]?.["type"]);
  if (type === "thinking" || type === "redacted_thinking") return;
  throw new Refusal(
    400,
    `messages.${before.index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. ` +
      "When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
  );
}
