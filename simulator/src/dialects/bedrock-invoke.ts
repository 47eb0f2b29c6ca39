import type { AnswerUsage } from "../answer.ts";
import { type Dialect, Refusal } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { objectOf, parseObject, stringOf } from "../json-body.ts";
import type { SimulatorRequest } from "../request.ts";
import { anthropicEvents } from "./anthropic-events.ts";
import { anthropicWhole } from "./anthropic-message.ts";
import { readMessages } from "./anthropic-request.ts";
import { type BedrockExchange, bedrockDialect } from "./bedrock-conventions.ts";

/** Bedrock's InvokeModel with Claude's body: Messages without model and stream, and events in binary frames. */
export function bedrockInvoke(secret: string | undefined): Dialect {
  return bedrockDialect({ id: "bedrock-invoke", methods: "invoke", read: readInvoke }, secret);
}

function readInvoke(request: SimulatorRequest, model: string, method: string): BedrockExchange {
  const body = objectOf(parseObject(request.body));
  if (stringOf(body["anthropic_version"]) !== "bedrock-2023-05-31") {
    throw new Refusal(
      400,
      "Malformed input request: anthropic_version is required, please reformat your input and try again.",
    );
  }
  for (const name of ["model", "stream"]) {
    if (body[name] !== undefined) throw new Refusal(400, `${name}: Extra inputs are not permitted`);
  }
  if (body["anthropic_beta"] !== undefined && !Array.isArray(body["anthropic_beta"])) {
    throw new Refusal(400, "anthropic_beta: Input should be a valid list");
  }
  const stream = method === "invoke-with-response-stream";
  const read = readMessages(request, { model, version: "bedrock-2023-05-31", stream });
  return {
    parsed: read.parsed,
    whole: (head, answer) => anthropicWhole(read, head, answer),
    *events(head, answer) {
      for (const event of anthropicEvents(read, head, answer)) {
        if (event.event === "ping") continue;
        yield chunkOf(event.role === "terminal" && answer.usage !== null ? withMetrics(event, answer.usage) : event);
      }
    },
  };
}

/** A Messages event in the payload of a `chunk` frame. The padding obscures its length. */
function chunkOf(event: DialectEvent): DialectEvent {
  const bytes = Buffer.from(event.data).toString("base64");
  const padding = "abcdefghijklmnopqrstuvwxyz".slice(0, bytes.length % 26);
  return { ...event, event: "chunk", data: JSON.stringify({ bytes, p: padding }) };
}

function withMetrics(event: DialectEvent, usage: AnswerUsage): DialectEvent {
  const written = usage.cacheWrite + usage.cacheWrite1h;
  const metrics = {
    inputTokenCount: usage.prompt - usage.cached - written,
    outputTokenCount: usage.output,
    cacheReadInputTokenCount: usage.cached,
    cacheWriteInputTokenCount: written,
    invocationLatency: 1,
    firstByteLatency: 1,
  };
  return { ...event, data: JSON.stringify({ type: "message_stop", "amazon-bedrock-invocationMetrics": metrics }) };
}
