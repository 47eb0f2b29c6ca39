import type { Failure } from "#core/index.ts";
import { textOf } from "#protocols/index.ts";
import { classifyByStatus, refusalObject } from "./classify-by-status.ts";
import type { BadAnswer } from "./kind.ts";
import { classifyOpenAiShaped } from "./openai-shaped.ts";

/** A bad answer of DashScope: `{"code","message","request_id"}` from its own API, OpenAI's shape from the compatible one. */
export function classifyDashscope(answer: BadAnswer): Failure {
  const code = textOf(refusalObject(answer.body)["code"]);
  if (code === null) return classifyOpenAiShaped(answer);
  return classifyByStatus(answer, {
    account: code === "InvalidApiKey" ? "credential" : code === "Arrearage" ? "credit" : null,
    spent: code === "Throttling.AllocationQuota",
  });
}
