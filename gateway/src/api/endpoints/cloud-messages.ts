import { outcomeOf, sizeOf } from "#bodies/index.ts";
import { type BodySink, Failure, type HeaderReader, type LiveBody, pulledStream } from "#core/index.ts";
import { ServerAnswer } from "#http-server/index.ts";
import {
  type AwsEventWriter,
  awsEventWriter,
  bedrockMessages,
  type CloudAsk,
  type EndpointProtocol,
  endpointProtocols,
} from "#protocols/index.ts";
import { authenticated } from "../authenticated.ts";
import { modelBody, readJsonPieces, withPlace } from "../body.ts";
import { type Answer, asResponse, type CallRequest } from "../call-request.ts";
import type { Endpoint, Exchange } from "../dependencies.ts";
import { actionOf } from "../google-path.ts";
import { type JsonCall, jsonCall } from "./model-calls.ts";

// Claude's Messages API as Amazon Bedrock (InvokeModel) and Google Cloud (rawPredict) offer it, for coding agents and SDKs that are set
// up for one of them. Requests become Messages requests, so everything else is the same.

const bedrockCall = messagesAs(endpointProtocols.messages);
const bedrockCount = messagesAs(endpointProtocols["count-tokens"]);
const vertexCall = jsonCall(endpointProtocols.messages);
const vertexCount = jsonCall(endpointProtocols["count-tokens"]);

function messagesAs(protocol: EndpointProtocol): JsonCall {
  return jsonCall({ ...protocol, dialect: bedrockMessages });
}

/** POST /model/{id}/invoke and /model/{id}/invoke-with-response-stream. */
export const invokeBedrock: Endpoint = async (exchange) => {
  refuseSignature(exchange.request.headers);
  const [, , encoded = "", action] = exchange.path.split("/");
  const ask = { model: modelIn(encoded), stream: action === "invoke-with-response-stream" };
  const answer = await asMessages(exchange, ask, bedrockCall);
  return ask.stream ? await inFrames(exchange, answer) : answer;
};

/** POST /model/{id}/count-tokens: the request of InvokeModel in base64. */
export const countBedrock: Endpoint = async (exchange) => {
  refuseSignature(exchange.request.headers);
  const [, , encoded = ""] = exchange.path.split("/");
  const answer = await asMessages(exchange, { model: modelIn(encoded), stream: false, isWrapped: true }, bedrockCount);
  if (answer.status !== 200) return answer;
  const response = asResponse(answer);
  const { input_tokens: inputTokens } = (await response.json()) as { readonly input_tokens: number };
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return Response.json({ inputTokens }, { headers });
};

/** POST …/publishers/anthropic/models/{model}:rawPredict and :streamRawPredict; the model `count-tokens` counts the tokens of the body's model. */
export const predictVertex: Endpoint = (exchange) => {
  const { path } = exchange;
  const name = path.slice(path.lastIndexOf("/") + 1, path.lastIndexOf(":"));
  const stream = actionOf(path) === "streamRawPredict";
  if (name === "count-tokens") return asMessages(exchange, { model: null, stream: null }, vertexCount);
  return asMessages(exchange, { model: modelIn(name), stream }, vertexCall);
};

function modelIn(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new Failure("invalid_request", "The model in the path is not valid percent-encoding.", { param: "model" });
  }
}

/** A signature can only be checked by who has the secret that made it. */
function refuseSignature(headers: HeaderReader): void {
  if (headers.get("authorization")?.startsWith("AWS4-HMAC-SHA256") !== true) return;
  throw new Failure(
    "invalid_api_key",
    "The request is signed with AWS credentials. Send a key of this gateway instead: set AWS_BEARER_TOKEN_BEDROCK to it.",
  );
}

async function asMessages(exchange: Exchange, ask: CloudAsk, call: JsonCall): Promise<Answer> {
  const principal = await authenticated(exchange);
  return await withPlace(exchange, principal, async (place) => {
    const { dependencies, request } = exchange;
    const arrived = await readJsonPieces(exchange, place, modelBody);
    place.hold(sizeOf(arrived) * 2);
    const options = { signal: request.signal, owner: principal };
    const { made, answer: betas } = outcomeOf(await dependencies.bodies.do("cloud-messages", ask, arrived, options));
    return await call({ ...exchange, request: messagesRequest(request, made, betas), query: "" }, principal);
  });
}

/** The request with a Messages body, which is not compressed. */
function messagesRequest(request: CallRequest, body: Uint8Array, betas: readonly string[]): CallRequest {
  const headers = new Headers([...request.headers]);
  headers.delete("content-encoding");
  headers.delete("transfer-encoding");
  headers.set("content-length", String(body.length));
  headers.set("anthropic-version", "2023-06-01");
  for (const beta of betas) headers.append("anthropic-beta", beta);
  const { method, url, signal } = request;
  return {
    ...{ method, url, signal, headers },
    get body() {
      const pieces = [body];
      return pulledStream(() => pieces.shift() ?? null) as ReadableStream<Uint8Array<ArrayBuffer>>;
    },
    bytes: () => Promise.resolve(body as Uint8Array<ArrayBuffer>),
    arrived: () => body,
  };
}

/** A stream in Amazon's framing. The captured one is the stream before, which is readable. */
async function inFrames({ seen }: Exchange, whole: Answer): Promise<Answer> {
  const { capture } = seen;
  delete seen.capture;
  const answer = capture === undefined ? whole : await capture(whole);
  if (answer instanceof Response || answer.body === null || !("pull" in answer.body)) return answer;
  const headers = { ...answer.headers, "content-type": "application/vnd.amazon.eventstream" };
  return new ServerAnswer(answer.status, headers, new FramedStream(answer.body, await awsEventWriter()));
}

class FramedStream implements LiveBody, BodySink {
  readonly #body: LiveBody;
  readonly #writer: AwsEventWriter;
  #sink: BodySink | null = null;

  constructor(body: LiveBody, writer: AwsEventWriter) {
    this.#body = body;
    this.#writer = writer;
  }

  pull(sink: BodySink, answered: () => void): void {
    this.#sink = sink;
    this.#body.pull(this, answered);
  }

  cancel(why?: Failure): void {
    this.#body.cancel(why);
  }

  enqueue(piece: Uint8Array): void {
    const frames = this.#writer.push(piece);
    if (frames.length > 0) this.#sink?.enqueue(frames);
  }

  close(): void {
    this.#sink?.close();
  }

  error(reason: unknown): void {
    this.#sink?.error(reason);
  }
}
