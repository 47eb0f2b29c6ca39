import type { BodySink, EndpointId, LiveBody, Model, Principal } from "#core/index.ts";
import type { CapturedBody, CapturedRequest, FormBody } from "#ports/index.ts";
import { type Delivery, secretsOf } from "#relay/index.ts";
import { BodyExcerpt, excerptOf, isText, noteOf } from "./body-excerpt.ts";
import type { Exchange } from "./dependencies.ts";

interface CapturedCall {
  readonly principal: Principal;
  readonly endpoint: EndpointId;
  /** As the caller sent it. Of a spooled body only size and type are captured. */
  readonly body: Uint8Array | Pick<FormBody, "size" | "contentType">;
  /** The requested model, then its fallbacks. The secrets of their accounts are redacted. */
  readonly models: readonly Model[];
}

/** null for most keys, of which nothing is captured. */
export function captureOf(
  { dependencies: { explainer }, request, requestId }: Exchange,
  { principal, endpoint, body, models }: CapturedCall,
): RequestCapture | null {
  const { key, workspace } = principal;
  if (key.capture === "none") return null;
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
  return new RequestCapture(withBodies, (responseHeaders, responseBody) =>
    explainer.capture({ ...captured, responseHeaders, responseBody }),
  );
}

function requestBodyOf(body: CapturedCall["body"], contentType: string | null): CapturedBody {
  return body instanceof Uint8Array ? excerptOf(body, contentType) : noteOf(body.size(""), body.contentType);
}

type Report = (headers: CapturedRequest["responseHeaders"], body: CapturedBody | null) => void;

/** One captured request until its answer has ended. It is reported to the explainer once. */
export class RequestCapture {
  readonly #withBodies: boolean;
  readonly #report: Report;

  constructor(withBodies: boolean, report: Report) {
    this.#withBodies = withBodies;
    this.#report = report;
  }

  /** Captures an upstream's answer, a stream as it passes. Returns the body to send. */
  delivered({ headers, body }: Delivery): Delivery["body"] {
    const responseHeaders = Object.entries(headers);
    const contentType = headers["content-type"] ?? null;
    if (this.#withBodies && !(body instanceof Uint8Array)) {
      return new CapturedStream(body, (excerpt) => {
        this.#report(responseHeaders, isText(contentType) ? excerpt : noteOf(excerpt.bytes, contentType));
      });
    }
    this.#report(responseHeaders, body instanceof Uint8Array && this.#withBodies ? excerptOf(body, contentType) : null);
    return body;
  }

  /** Captures an answer of the gateway itself, which is small. */
  async answered(response: Response): Promise<void> {
    const body = this.#withBodies ? new Uint8Array(await response.clone().arrayBuffer()) : null;
    this.#report([...response.headers], body === null ? null : excerptOf(body, response.headers.get("content-type")));
  }
}

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
