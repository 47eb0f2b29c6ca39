import type { Seal } from "#core/index.ts";

/** A signature, or the bytes of redacted reasoning, as a seal that only this account's models read again. */
export function converseSeal(data: string, account: string): Seal {
  return { dialect: "bedrock-converse", account, data, itemId: null };
}
