import { remarkSentence } from "@sluice/contract/words";
import { asFailure } from "#core/index.ts";

/**
 * Why a message did not arrive, for whoever chose its address. All that keeps a connection from standing is told alike:
 * whether a name exists, and whether it leads into our own network, is none of their business.
 */
export function webhookProblem(thrown: unknown): string {
  const { code, message } = asFailure(thrown);
  if (code === "upstream_unreachable") return remarkSentence("callback", { code: "unreachable", params: {} });
  return code === "upstream_timeout" ? remarkSentence("callback", { code: "timeout", params: {} }) : message;
}
