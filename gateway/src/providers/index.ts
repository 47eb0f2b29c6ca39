/**
 * providers: what is particular to each kind of upstream, as data and pure functions: where it is, which dialect
 * it speaks at which path, how a request is authorised, what a bad answer means. Nothing here sends anything.
 */
export type { BadAnswer, Lane, ProviderKind, StarterModel } from "./kind.ts";
export { providerKind, providerKinds } from "./kinds.ts";
export { readRetryAfter } from "./retry-after.ts";
