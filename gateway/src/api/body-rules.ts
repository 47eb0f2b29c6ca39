import { bounds, Failure } from "#core/index.ts";

/** What may be sent to one kind of endpoint. */
export interface BodyRules {
  /** Of what arrives and of what comes out of it. */
  readonly bytesMax: number;
  /** Whether it may come with a content encoding. */
  readonly packed: boolean;
  /** What to do instead of sending so much. */
  readonly advice?: string;
}

/** Calls of models: conversations with pictures in them. */
export const modelBody: BodyRules = { bytesMax: bounds.requestBodyBytesMax, packed: true };
/** Names, addresses and settings, but no material. */
export const controlBody: BodyRules = { bytesMax: bounds.plainBodyBytesMax, packed: true };
export const videoBody: BodyRules = {
  bytesMax: bounds.taskRequestBytesMax,
  packed: true,
  advice: "give material by URL or as an asset",
};
/** A file of the largest kind and the fields beside it. */
export const assetUploadBody: BodyRules = { bytesMax: bounds.assetUploadBytesMax, packed: false };
/** From somebody who shows no key. */
export const callbackBody: BodyRules = { bytesMax: bounds.callbackBodyBytesMax, packed: false };

export function tooLarge({ bytesMax, advice }: BodyRules): Failure {
  const hint = advice === undefined ? "" : `; ${advice}`;
  return new Failure("request_too_large", `The body is larger than ${bytesMax} bytes${hint}.`);
}
