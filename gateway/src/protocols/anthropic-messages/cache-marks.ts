import type { Warn } from "../codec.ts";
import type { Block, CacheControl } from "./write-block.ts";
import type { Message } from "./write-messages.ts";

/** Anything that can carry a mark: a tool, an instruction, a content block. */
interface Holder {
  cache_control?: CacheControl;
}

const marksMax = 4;

/**
 * Puts the cache marks of a request in order: at most four, and those of an hour before those of five minutes. Where
 * the caller set none, its dialect caches on its own: marks then stand where a next call will find the same beginning.
 */
export function settleCacheMarks(
  prompt: { readonly tools: readonly Holder[]; readonly system: readonly Holder[]; readonly messages: Message[] },
  warn: Warn,
): void {
  const { tools, system, messages } = prompt;
  const holders: Holder[] = [...tools, ...system, ...messages.flatMap((message) => message.content)];
  const marked = holders.filter((holder) => holder.cache_control !== undefined);
  if (marked.length === 0) {
    if (tools.length + system.length > 0) markAll([tools.at(-1), system.at(-1), lastAsked(messages)]);
    return;
  }
  // A later mark covers what stands before it: the earliest are the ones that are missed least.
  for (const holder of marked.splice(0, Math.max(0, marked.length - marksMax))) {
    warn("more than four cache breakpoints: the earliest were left out");
    delete holder.cache_control;
  }
  let short = false;
  for (const holder of marked) {
    if (holder.cache_control?.ttl !== "1h") short = true;
    else if (short) {
      warn("a cache breakpoint of one hour after one of five minutes was shortened");
      holder.cache_control = { type: "ephemeral" };
    }
  }
}

function markAll(holders: readonly (Holder | undefined)[]): void {
  for (const holder of holders) if (holder !== undefined) holder.cache_control = { type: "ephemeral" };
}

function lastAsked(messages: readonly Message[]): Block | undefined {
  return messages.findLast((message) => message.role === "user")?.content.at(-1);
}
