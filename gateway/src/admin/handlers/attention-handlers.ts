import { readAttention } from "../attention/attention.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import type { Handlers } from "./calls.ts";

export function attentionHandlers(dependencies: ConsoleDependencies) {
  return {
    "attention.list": (call) => readAttention(call, dependencies),
  } satisfies Partial<Handlers>;
}
