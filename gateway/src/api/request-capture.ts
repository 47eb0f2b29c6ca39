import type { BodySink, EndpointId, LiveBody, Model, Principal } from "#core/index.ts";
import { ServerAnswer } from "#http-server/index.ts";
import type { CapturedBody, CapturedRequest, FormBody } from "#ports/index.ts";
import { secretsOf } from "#relay/index.ts";
import { BodyExcerpt, excerptOf, isText, noteOf } from "./body-excerpt.ts";
import type { Answer } from "./call-request.ts";
import type { Exchange } from "./dependencies.ts";

interface CapturedCall {
  readonly principal: Principal;
  readonly endpoint: EndpointId;
  /** As the caller sent it. Of a spooled body only size and type are captured. */
  readonly body: Uint8Array | Pick<FormBody, "size" | "contentType">;
  /** The requested model, then its fallbacks. The secrets of their accounts are redacted. */
  readonly models: readonly Model[];
}

/** Arranges that the request and its answer are captured; for most keys nothing is. */
export function captureCall(
  { dependencies: { explainer }, request, requestId, seen }: Exchange,
  { principal, endpoint, body, models }: CapturedCall,
): void {
  const { key, workspace } = principal;
  if (key.capture === "none") return;
  const withBodies = key.capture === "bodies";
  if (withBodies) explainer.willCapture(requestId);
  const providers = new Set(models.flatMap(({ deployments }) => deployments.map(({ provider }) => provider)));
  const captured = {
    requestId,
    workspaceId: workspace.id,
    keyId: key.id,
    endpoint,
    requestHeaders: [...request.headers],
    requestBody: withBodies ? requestBodyOf(body, request.headers.get("content-type")) : null,
    secrets: [...providers].flatMap(secretsOf),
  };
  seen.capture = (answer) =>
    captureAnswer(answer, withBodies, (responseHeaders, responseBody) =>
      explainer.capture({ ...captured, responseHeaders, responseBody }),
    );
}

function requestBodyOf(body: CapturedCall["body"], contentType: string | null): CapturedBody {
  return body instanceof Uint8Array ? excerptOf(body, contentType) : noteOf(body.size(""), body.contentType);
}

type Report = (headers: CapturedRequest["responseHeaders"], body: CapturedBody | null) => void;

/** Captures an answer, a stream as it passes. Returns the answer to send. */
async function captureAnswer(answer: Answer, withBodies: boolean, report: Report): Promise<Answer> {
  const headers = answer instanceof Response ? [...answer.headers] : Object.entries(answer.headers);
  const contentType = headers.find(([name]) => name === "content-type")?.[1] ?? null;
  if (!withBodies) report(headers, null);
  else if (answer instanceof Response) {
    report(headers, excerptOf(new Uint8Array(await answer.clone().arrayBuffer()), contentType));
  } else if (answer.body !== null && "pull" in answer.body) {
    const stream = new CapturedStream(answer.body, (excerpt) =>
      report(headers, isText(contentType) ? excerpt : noteOf(excerpt.bytes, contentType)),
    );
    return new ServerAnswer(answer.status, answer.headers, stream);
  } else report(headers, excerptOf(answer.body instanceof Uint8Array ? answer.body : noBytes, contentType));
  return answer;
}

const noBytes = new Uint8Array(0);

/** Forwards a body to its sink and collects an excerpt of it. `onEnd` is called once. */
class CapturedStream implements LiveBody, BodySink {
  readonly #body: LiveBody;
  readonly #excerpt = new BodyExcerpt();
  readonly #onEnd: (excerpt: CapturedBody) => void;
  #sink: BodySink | null = null;
  #ended = false;

  constructor(body: LiveBody, onEnd: (excerpt: CapturedBody) => void) {
    this.#body = body;
    this.#onEnd = onEnd;
  }

  pull(sink: BodySink, answered: () => void): void {
    this.#sink = sink;
    this.#body.pull(this, answered);
  }

  cancel(): void {
    this.#end();
    this.#body.cancel();
  }

  enqueue(piece: Uint8Array): void {
    this.#excerpt.push(piece);
    this.#sink?.enqueue(piece);
  }

  close(): void {
    this.#end();
    this.#sink?.close();
  }

  error(reason: unknown): void {
    this.#end();
    this.#sink?.error(reason);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd(this.#excerpt.end());
  }
}
