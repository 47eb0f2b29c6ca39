import { Failure } from "#core/index.ts";
import { authenticated } from "../authenticated.ts";
import type { Endpoint } from "../face.ts";
import { renderFailure } from "../respond.ts";
import { responsesSpeech } from "../speeches.ts";

/**
 * GET /v1/responses with an upgrade to a WebSocket. 426 is what sends Codex to HTTP at once; after any other refusal it
 * tries five times more.
 */
export const responsesSocket: Endpoint = async (face, exchange) => {
  await authenticated(face, exchange);
  const failure = new Failure(
    "websocket_unavailable",
    "Responses are not served over a WebSocket here: use POST /v1/responses, with `stream` for events.",
  );
  exchange.seen.error = failure.code;
  // RFC 9110, 15.5.22: the answer names what may be spoken.
  const headers = { upgrade: "HTTP/1.1", connection: "upgrade" };
  return renderFailure(failure, exchange.requestId, headers, responsesSpeech.dialect);
};
