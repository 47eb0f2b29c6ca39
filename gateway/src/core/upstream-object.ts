import { inputTokensOf, tokensOf, type Usage } from "./usage.ts";

/** Kinds of objects that a vendor keeps for later calls. */
export type UpstreamObjectKind =
  | "response"
  /** Of a stored response: what its `output` lists. */
  | "item"
  | "thread_message"
  | "interaction"
  | "conversation"
  | "prompt"
  | "cache"
  | "file"
  | "container"
  | "skill"
  | "vector_store"
  /** What a call uses without reading it: a voice, a secret, a place to write to. */
  | "resource"
  | "other";

/** An object that an attempt made or saw being made. It is part of the attempt's own record in the journal. */
export interface KeptObject {
  readonly id: string;
  readonly kind: UpstreamObjectKind;
  /** What a call that names it brings as input, in tokens; null: not known. */
  readonly inputTokens: number | null;
  /** Unix milliseconds; null: it is kept until somebody deletes it. */
  readonly expiresAt: number | null;
}

/** An object that a vendor keeps, with the workspace it belongs to and the account (provider) that has it. */
export interface UpstreamObject extends KeptObject {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly personId: string | null;
  readonly provider: string;
  /** Empty strings where it was made by a call of no model. */
  readonly deployment: string;
  readonly model: string;
  readonly upstreamModel: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** A stored response and its items. `usage` null: not known yet. */
export function keptResponse(
  id: string,
  items: readonly string[],
  usage: Usage | null,
  expiresAt: number,
): readonly KeptObject[] {
  // Continuing it brings the whole conversation as input. An item has no more tokens than the output that it is part of.
  const inputTokens = usage === null ? null : tokensOf(usage);
  const itemTokens = usage === null ? null : tokensOf(usage) - inputTokensOf(usage);
  return [
    { id, kind: "response", inputTokens, expiresAt },
    ...items.filter(isObjectId).map((item): KeptObject => {
      return { id: item, kind: "item", inputTokens: itemTokens, expiresAt };
    }),
  ];
}

/** An id of a vendor's object, as far as it can be one: visible ASCII, of a bounded length. */
export function isObjectId(id: string): boolean {
  return objectIdPattern.test(id);
}

const objectIdPattern = /^[\x21-\x7e]{1,512}$/;
