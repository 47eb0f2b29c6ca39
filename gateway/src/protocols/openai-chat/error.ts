import { type Failure, failureTable } from "#core/index.ts";

/** OpenAI's error body: `{"error":{message,type,param,code}}`, with what a limit adds. Source: CONTRACT §3. */
export function renderChatError(failure: Failure): string {
  return JSON.stringify({
    error: {
      message: failure.message,
      type: failureTable[failure.code].type,
      param: failure.param,
      code: failure.code,
      ...failure.details,
    },
  });
}

/** The same inside a stream: SDKs raise an error on a chunk with a top-level `error`. No [DONE] follows. */
export function renderChatStreamError(failure: Failure): string {
  return `data: ${renderChatError(failure)}\n\n`;
}
