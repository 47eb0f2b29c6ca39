import type { CacheHint } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { type CacheControl, cacheControl } from "./write-block.ts";
import type { Message } from "./write-messages.ts";

/** Anything that can carry a mark: a tool, an instruction, a content block. */
interface Holder {
  cache_control?: CacheControl;
}

const marksMax = 4;

/**
 * Puts the cache marks of a request in order: at most four, and those of an hour before those of five minutes. A caller or an
 * account that asks for caching without a place (`auto`) gets marks where a next call will find the same beginning. Nobody else
 * does: writing a cache costs more than reading the input.
 */
export function settleCacheMarks(
  prompt: { readonly tools: readonly Holder[]; readonly system: readonly Holder[]; readonly messages: Message[] },
  auto: CacheHint | null,
  warn: Warn,
): void {
  const { tools, system, messages } = prompt;
  const holders: Holder[] = [...tools, ...system, ...messages.flatMap((message) => message.content)];
  const marked = holders.filter((holder) => holder.cache_control !== undefined);
  if (marked.length === 0) {
    if (auto !== null) for (const holder of placesOf(prompt)) Object.assign(holder, cacheControl(auto));
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

function placesOf({ tools, system, messages }: Parameters<typeof settleCacheMarks>[0]): readonly Holder[] {
  const asked = messages.findLast((message) => message.role === "user")?.content.at(-1);
  return [tools.at(-1), system.at(-1), asked].flatMap((holder) => holder ?? []);
}
