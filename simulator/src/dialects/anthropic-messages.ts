import { silentAnswer } from "../answer.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import type { SimulatorRequest } from "../request.ts";
import { anthropicError, anthropicErrorEvent, anthropicHeaders, requireAnthropicKey } from "./anthropic-conventions.ts";
import { anthropicEvents, pingEvent } from "./anthropic-events.ts";
import { anthropicWhole } from "./anthropic-message.ts";
import { type MessagesRequest, readMessages } from "./anthropic-request.ts";
import type { ThreadStore, ThreadTurn } from "./anthropic-threads.ts";

/** Anthropic's Messages, with any base path. Threads belong to the API key. The query (`beta=true`) is ignored. */
export function anthropicMessages(threads: ThreadStore): Dialect {
  return {
    id: "anthropic-messages",
    matches: ({ method, path }) => method === "POST" && path.endsWith("/messages"),
    read(request) {
      const facts = { model: null, version: versionOf(request), stream: null };
      const turn = threads.open(request);
      if (turn === null) return messagesExchange(readMessages(request, facts));
      return threadedExchange(readMessages({ ...request, body: turn.body }, facts), turn);
    },
    headers: anthropicHeaders,
    error: anthropicError,
  };
}

/** Stores the answer in the thread, unless the stream is aborted. */
function threadedExchange(request: MessagesRequest, turn: ThreadTurn): Exchange {
  return {
    ...messagesExchange(request),
    whole(head, answer) {
      const message = anthropicWhole(request, head, answer);
      turn.store(message);
      return message;
    },
    *events(head, answer) {
      for (const event of anthropicEvents(request, head, answer)) {
        if (event.role === "terminal") turn.store(anthropicWhole(request, head, answer));
        yield event;
      }
    },
  };
}

/** Counts the prompt of a Messages request, at no cost. */
export const anthropicCountTokens: Dialect = {
  id: "anthropic-count-tokens",
  matches: ({ method, path }) => method === "POST" && path.endsWith("/messages/count_tokens"),
  read(request) {
    return countExchange(readMessages(request, { model: null, version: versionOf(request), stream: "count" }));
  },
  headers: anthropicHeaders,
  error: anthropicError,
};

/** The answer of a Messages request on Anthropic and Vertex. */
export function messagesExchange(request: MessagesRequest): Exchange {
  return {
    parsed: request.parsed,
    ping: pingEvent,
    whole: (head, answer) => anthropicWhole(request, head, answer),
    events: (head, answer) => anthropicEvents(request, head, answer),
    errorEvent: anthropicErrorEvent,
  };
}

export function countExchange({ parsed }: MessagesRequest): Exchange {
  return {
    parsed,
    ping: null,
    compose: (script) => silentAnswer(script.prompt_tokens ?? parsed.promptTokens),
    whole: (_head, answer) => JSON.stringify({ input_tokens: answer.promptTokens }),
    events: () => [],
    errorEvent: anthropicErrorEvent,
  };
}

const versions: readonly string[] = ["2023-01-01", "2023-06-01", "2026-10-21"];

function versionOf({ headers }: SimulatorRequest): string {
  requireAnthropicKey(headers);
  const version = headers["anthropic-version"];
  if (version === undefined) throw new Refusal(400, "anthropic-version: header is required");
  if (!versions.includes(version)) throw new Refusal(400, `anthropic-version: "${version}" is not a valid version`);
  return version;
}
