import { Failure } from "./failure.ts";
import { inputTokensOf, tokensOf, type Usage } from "./usage.ts";

/** Kinds of objects that a vendor stores for later calls. */
export type UpstreamObjectKind =
  | "response"
  /** An item in the `output` of a stored response. */
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
  /** Used by a call without being read: a voice, a secret, a target. */
  | "resource"
  | "other";

/** The same for a missing object and for one of another workspace. */
export function noSuchObject({ id, param }: { readonly id: string; readonly param: string }): Failure {
  return new Failure("not_found", `There is no object with the id "${id.slice(0, 128)}".`, { param });
}

/** An object that an attempt created or saw, stored with the attempt in the journal. */
export interface AttemptObject {
  readonly id: string;
  readonly kind: UpstreamObjectKind;
  /** Input tokens that it adds to a call; null if unknown. */
  readonly inputTokens: number | null;
  /** Unix milliseconds; null if it is stored until it is deleted. */
  readonly expiresAt: number | null;
  /** Values that guardrails masked in its conversation, encrypted; absent or null: none. */
  readonly masked?: string | null | undefined;
}

/** An object stored by a vendor, with its workspace and account (provider). */
export interface UpstreamObject extends AttemptObject {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly personId: string | null;
  /** The session of the call that created it; null if unknown. A call that continues it belongs to the same session. */
  readonly session: string | null;
  readonly provider: string;
  /** "" if it was created without a model. */
  readonly deployment: string;
  readonly model: string;
  readonly upstreamModel: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** Prefix of the upstream model in records of calls for a container; its memory follows. */
export const containerModel = "container-";

/** The upstream model of a renewed object: a container keeps its memory when a model call has used it. */
export function renewedUpstreamModel(
  before: string,
  { kind, upstreamModel }: Pick<UpstreamObject, "kind" | "upstreamModel">,
): string {
  const keeps = kind === "container" && before.startsWith(containerModel) && !upstreamModel.startsWith(containerModel);
  return keeps ? before : upstreamModel;
}

/** A stored response and its items. `usage` is null if unknown. */
export function responseObjects(
  id: string,
  items: readonly string[],
  usage: Usage | null,
  { expiresAt, masked }: Pick<AttemptObject, "expiresAt" | "masked">,
): readonly AttemptObject[] {
  // Continuing it adds the whole conversation as input. An item has no more tokens than the output.
  const inputTokens = usage === null ? null : tokensOf(usage);
  const itemTokens = usage === null ? null : tokensOf(usage) - inputTokensOf(usage);
  return [
    { id, kind: "response", inputTokens, expiresAt, ...(masked != null && { masked }) },
    ...items.filter(isObjectId).map((item): AttemptObject => {
      return { id: item, kind: "item", inputTokens: itemTokens, expiresAt };
    }),
  ];
}

/** Whether it can be an id of a vendor's object: visible ASCII of a limited length. */
export function isObjectId(id: string): boolean {
  return objectIdPattern.test(id);
}

const objectIdPattern = /^[\x21-\x7e]{1,512}$/;
