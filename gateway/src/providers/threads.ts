import type { Provider } from "#core/index.ts";
import { passesMember } from "./governed-members.ts";
import type { ProviderKind } from "./kind.ts";

/**
 * Whether this account keeps message threads, so that a call may continue one. An account that does not would answer the
 * last message without the conversation.
 */
export function keepsThreads(provider: Provider, kind: ProviderKind): boolean {
  return kind.keepsThreads === true || passesMember(provider, "thread");
}
