import { Refusal } from "../dialect.ts";
import { type JsonObject, stringOf } from "../json-body.ts";
import { unseal } from "../seal.ts";
import type { ResponseStore } from "./responses-store.ts";

export interface ItemsFacts {
  readonly input: readonly JsonObject[];
  readonly context: readonly JsonObject[];
  readonly account: string;
  readonly store: ResponseStore;
}

/** Throws Refusal for items that the Responses API would refuse. Unknown types are accepted. */
export function refuseItems(facts: ItemsFacts): void {
  for (const [index, item] of facts.input.entries()) refuseItem(item, index, facts);
  refuseLooseOutputs(facts.context);
}

function refuseItem(item: JsonObject, index: number, { account, store }: ItemsFacts): void {
  const { type, id, encrypted_content: content } = item;
  if (type === "message" && item["content"] === undefined) {
    throw new Refusal(400, `Missing required parameter: 'input[${index}].content'.`, {
      param: `input[${index}].content`,
      code: "missing_required_parameter",
    });
  }
  if (type === "item_reference") refuseUnknownItem(stringOf(id), account, store);
  if (type !== "reasoning" && type !== "compaction") return;
  if (typeof content === "string") {
    if (unseal(type, account, content) !== null) return;
    const shown = content.length > 8 ? `${content.slice(0, 4)}...${content.slice(-4)}` : content;
    throw new Refusal(
      400,
      `The encrypted content ${shown} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      { code: "invalid_encrypted_content" },
    );
  }
  if (type === "compaction") {
    throw new Refusal(400, `Missing required parameter: 'input[${index}].encrypted_content'.`, {
      param: `input[${index}].encrypted_content`,
      code: "missing_required_parameter",
    });
  }
  if (typeof id === "string") refuseUnknownItem(id, account, store);
}

function refuseUnknownItem(id: string, account: string, store: ResponseStore): void {
  if (store.hasItem(account, id)) return;
  throw new Refusal(
    404,
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. ` +
      "Try again with `store` set to true, or remove this item from your input.",
    { param: "input", code: null },
  );
}

/** Every call needs an output after it, and every output a call. */
function refuseLooseOutputs(context: readonly JsonObject[]): void {
  const open = new Map<string, string>();
  for (const { type, call_id: callId } of context) {
    const id = stringOf(callId);
    if (type === "function_call" || type === "custom_tool_call") open.set(id, type);
    if (type === "function_call_output" || type === "custom_tool_call_output") {
      if (open.delete(id)) continue;
      const what = type === "function_call_output" ? "function call" : "custom tool call";
      throw new Refusal(400, `No tool call found for ${what} output with call_id ${id}.`, { param: "input" });
    }
  }
  for (const [id, type] of open) {
    const what = type === "function_call" ? "function call" : "custom tool call";
    throw new Refusal(400, `No tool output found for ${what} ${id}.`, { param: "input" });
  }
}
