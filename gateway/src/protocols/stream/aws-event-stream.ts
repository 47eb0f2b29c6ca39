import { EventStreamCodec } from "@smithy/eventstream-codec";
import { bounds, Failure } from "#core/index.ts";
import { unsupportedReply, upstreamFault } from "../errors/upstream-errors.ts";
import { decodeText, emptyBytes, encodeText } from "../json/bytes.ts";
import { objectOf, parseObject, textOf } from "../json/value.ts";
import { eventData, SseEvents } from "./sse-events.ts";

/**
 * Converts Amazon's binary event stream to server-sent events. A `chunk` of InvokeModel becomes the model vendor's own event, a Converse
 * event `{"contentBlockDelta":{…}}`, an exception an `error` event. Source: "Event stream encoding" of the AWS SDK reference; Bedrock
 * Runtime API.
 */
export class AwsEventStream {
  readonly #codec = new EventStreamCodec(toText, encodeText);
  #held: Uint8Array = new Uint8Array(256);
  #size = 0;
  #failure: Failure | null = null;

  /** Throws Failure upstream_error on damaged bytes, after everything before them was returned. */
  push(chunk: Uint8Array): Uint8Array {
    if (this.#failure !== null) throw this.#failure;
    this.#hold(chunk);
    let from = 0;
    let out = "";
    try {
      for (;;) {
        const length = this.#frameLength(from);
        if (length === null || from + length > this.#size) break;
        out += this.#event(this.#held.subarray(from, from + length));
        from += length;
      }
    } catch (thrown) {
      this.#failure = thrown instanceof Failure ? thrown : damagedStream(thrown);
      if (out === "") throw this.#failure;
    }
    if (from > 0) this.#held.copyWithin(0, from, this.#size);
    this.#size -= from;
    return out === "" ? emptyBytes : encodeText(out);
  }

  /** Null until the length has arrived. */
  #frameLength(from: number): number | null {
    if (this.#size - from < lengthBytes) return null;
    const length = new DataView(this.#held.buffer, this.#held.byteOffset + from).getUint32(0);
    if (length > bounds.eventBytesMax) {
      throw unsupportedReply(`The upstream sent an event of more than ${bounds.eventBytesMax} bytes.`);
    }
    if (length < frameBytesMin) throw damagedStream(new Error("a frame is shorter than its frame"));
    return length;
  }

  #event(frame: Uint8Array): string {
    const { headers, body } = this.#codec.decode(frame);
    const header = (name: string): string => {
      const found = headers[name];
      return found?.type === "string" ? found.value : "";
    };
    const payload = toText(body);
    switch (header(":message-type")) {
      case "event":
        return eventText(header(":event-type"), payload);
      case "exception":
        return errorText(header(":exception-type"), textOf(parseObject(payload)?.["message"]) ?? payload);
      case "error":
        return errorText(header(":error-code"), header(":error-message"));
      default:
        return "";
    }
  }

  /** Doubles its buffer so that a large frame in small pieces is copied only a few times. */
  #hold(chunk: Uint8Array): void {
    const size = this.#size + chunk.length;
    if (size > this.#held.length) {
      const larger = new Uint8Array(Math.max(size, this.#held.length * 2));
      larger.set(this.#held.subarray(0, this.#size));
      this.#held = larger;
    }
    this.#held.set(chunk, this.#size);
    this.#size = size;
  }
}

/**
 * Converts events of the Messages API to Amazon's binary event stream, as InvokeModelWithResponseStream sends them: each event is a
 * `chunk`, an error is an exception.
 */
export class AwsEventWriter {
  readonly #codec = new EventStreamCodec(toText, encodeText);
  // As large as the events that the tap of the upstream's stream accepts.
  readonly #events = new SseEvents(bounds.imageEventBytesMax);

  /** Returns the whole events that have arrived, as frames. */
  push(events: Uint8Array): Uint8Array {
    const frames: Uint8Array[] = [];
    this.#events.push(events, (bytes, start, end) => {
      const data = eventData(bytes, start, end);
      if (data !== "") frames.push(this.#frame(data));
    });
    return Buffer.concat(frames);
  }

  #frame(data: string): Uint8Array {
    const event = parseObject(data);
    if (event?.["type"] === "error") {
      const error = objectOf(event["error"]);
      const message = textOf(error["message"]) ?? "The stream failed.";
      const type = exceptionTypes.get(textOf(error["type"]) ?? "") ?? "internalServerException";
      return this.#encode("exception", type, JSON.stringify({ message }));
    }
    return this.#encode("event", "chunk", JSON.stringify({ bytes: Buffer.from(data).toString("base64") }));
  }

  #encode(kind: "event" | "exception", type: string, payload: string): Uint8Array {
    const header = (value: string) => ({ type: "string" as const, value });
    return this.#codec.encode({
      headers: {
        [`:${kind}-type`]: header(type),
        ":content-type": header("application/json"),
        ":message-type": header(kind),
      },
      body: encodeText(payload),
    });
  }
}

const exceptionTypes: ReadonlyMap<string, string> = new Map([
  ["rate_limit_error", "throttlingException"],
  ["overloaded_error", "serviceUnavailableException"],
  ["timeout_error", "modelTimeoutException"],
  ["invalid_request_error", "validationException"],
]);

const lengthBytes = 4;
/** Prelude and both checksums. */
const frameBytesMin = 16;

function toText(input: Uint8Array | string): string {
  return typeof input === "string" ? input : decodeText(input);
}

function eventText(type: string, payload: string): string {
  if (type !== "chunk") {
    if (type === "initial-response" || type === "") return "";
    if (parseObject(payload) === null) throw damagedStream(new Error("an event holds no JSON object"));
    return `event: ${type}\ndata: {${JSON.stringify(type)}:${onOneLine(payload)}}\n\n`;
  }
  const inner = Buffer.from(textOf(parseObject(payload)?.["bytes"]) ?? "", "base64").toString("utf8");
  const event = parseObject(inner);
  if (event === null) throw damagedStream(new Error("a chunk holds no JSON object"));
  const name = textOf(event["type"]);
  const label = name !== null && /^[\w.-]+$/.test(name) ? `event: ${name}\n` : "";
  return `${label}data: ${onOneLine(inner)}\n\n`;
}

/** Line breaks occur only between tokens of JSON text. */
function onOneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, " ");
}

/** Anthropic's error event; Bedrock's reader also reads its `error` member. */
function errorText(name: string, message: string): string {
  const type = errorTypes.get(name.toLowerCase()) ?? "api_error";
  const error = { type, message: message === "" ? `The model's stream ended with ${name}.` : message, code: name };
  return `event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`;
}

const errorTypes: ReadonlyMap<string, string> = new Map([
  ["throttlingexception", "rate_limit_error"],
  ["servicequotaexceededexception", "rate_limit_error"],
  ["serviceunavailableexception", "overloaded_error"],
  ["modelnotreadyexception", "overloaded_error"],
  ["modeltimeoutexception", "timeout_error"],
  ["validationexception", "invalid_request_error"],
]);

function damagedStream(cause: unknown): Failure {
  return upstreamFault("The upstream's event stream is damaged.", cause);
}
