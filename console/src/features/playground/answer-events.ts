import { Problem, problemOfBody } from "../../client/problem.ts";
import { t } from "../../language/areas/playground.ts";
import { readEvents } from "./chat/event-reader.ts";

/**
 * The events of a streamed response, parsed as JSON. Throws a Problem for an error event. `ends`: whether an event is the last one; a
 * stream that stops before it is incomplete. `[DONE]` is always the last one.
 */
export async function* answerEvents(
  response: Response,
  ends: (event: unknown) => boolean = () => false,
): AsyncGenerator<unknown> {
  const requestId = response.headers.get("x-request-id");
  if (response.body === null) throw new Problem("upstream_truncated", t("playground.answer.noBody"), requestId);
  for await (const event of readEvents(response.body)) {
    if (event === "[DONE]") return;
    const chunk = parse(event, requestId);
    const failed = problemOfBody(chunk, requestId);
    if (failed !== null) throw failed;
    yield chunk;
    if (ends(chunk)) return;
  }
  throw new Problem("upstream_truncated", t("playground.answer.cut"), requestId);
}

export function isEventStream(response: Response): boolean {
  return (response.headers.get("content-type") ?? "").toLowerCase().startsWith("text/event-stream");
}

function parse(event: string, requestId: string | null): unknown {
  try {
    return JSON.parse(event);
  } catch {
    throw new Problem("upstream_error", t("playground.answer.unreadable"), requestId);
  }
}
