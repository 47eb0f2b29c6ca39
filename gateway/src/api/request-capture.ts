import type { BodySink, EndpointId, LiveBody, Model, Principal } from "#core/index.ts";
import type { CapturedBody, CapturedRequest, FormBody } from "#ports/index.ts";
import { type Delivery, secretsOf } from "#relay/index.ts";
import { BodyExcerpt, excerptOf, isText, noteOf } from "./body-excerpt.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";

export interface CapturedCall {
  readonly principal: Principal;
  readonly endpoint: EndpointId;
  /** As the caller sent it. */
  readonly body: CapturableBody;
  /** The model asked for, then its fallbacks: what their accounts must not have shown is not kept. */
  readonly models: readonly Model[];
}

/** Of a body that lies elsewhere only its size and type are kept. */
type CapturableBody = Uint8Array | Pick<FormBody, "size" | "contentType">;

/** null for the many keys of which nothing is kept: then nothing is done either. */
export function captureOf(
  dependencies: ApiDependencies,
  exchange: Exchange,
  call: CapturedCall,
): RequestCapture | null {
  return call.principal.key.capture === "none" ? null : new RequestCapture(dependencies, exchange, call);
}

type Request = Omit<CapturedRequest, "responseHeaders" | "responseBody">;

/** One request of a key that says that it is to be kept, until its answer has gone. Told to the explainer once. */
export class RequestCapture {
  readonly #explainer: ApiDependencies["explainer"];
  readonly #bodies: boolean;
  readonly #request: Request;

  constructor(
    { explainer }: ApiDependencies,
    { request, requestId }: Exchange,
    { principal, endpoint, body, models }: CapturedCall,
  ) {
    this.#explainer = explainer;
    this.#bodies = principal.key.capture === "bodies";
    const providers = new Set(models.flatMap(({ deployments }) => deployments.map(({ provider }) => provider)));
    this.#request = {
      requestId,
      workspaceId: principal.workspace.id,
      keyId: principal.key.id,
      endpoint,
      requestHeaders: [...request.headers],
      requestBody: this.#bodies ? requestBody(body, request.headers.get("content-type")) : null,
      secrets: [...providers].flatMap(secretsOf),
    };
    if (this.#bodies) explainer.expect(requestId);
  }

  /** An answer of a model on its way to its caller; a stream is heard as it passes. Gives the body to be sent. */
  delivered({ headers, body }: Delivery): Delivery["body"] {
    const all = Object.entries(headers);
    if (!this.#bodies) this.#tell(all, null);
    else if (body instanceof Uint8Array) this.#tell(all, excerptOf(body, headers["content-type"] ?? null));
    else return this.#heard(all, body, headers["content-type"] ?? null);
    return body;
  }

  /** An answer that we made ourselves: small, and no stream. */
  async answered(response: Response): Promise<void> {
    const body = this.#bodies ? new Uint8Array(await response.clone().arrayBuffer()) : null;
    this.#tell([...response.headers], body === null ? null : excerptOf(body, response.headers.get("content-type")));
  }

  #heard(headers: CapturedRequest["responseHeaders"], body: LiveBody, contentType: string | null): LiveBody {
    const text = isText(contentType);
    const excerpt = new BodyExcerpt();
    const over = (): void => {
      const heard = excerpt.end();
      this.#tell(headers, text ? heard : noteOf(heard.bytes, contentType));
    };
    return new HeardBody(body, excerpt, over);
  }

  #tell(responseHeaders: CapturedRequest["responseHeaders"], responseBody: CapturedBody | null): void {
    this.#explainer.capture({ ...this.#request, responseHeaders, responseBody });
  }
}

/** A body on its way to its caller that somebody else hears too. */
class HeardBody implements LiveBody, BodySink {
  readonly #body: LiveBody;
  readonly #excerpt: BodyExcerpt;
  readonly #over: () => void;
  #sink: BodySink | null = null;
  #ended = false;

  constructor(body: LiveBody, excerpt: BodyExcerpt, over: () => void) {
    this.#body = body;
    this.#excerpt = excerpt;
    this.#over = over;
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

  /** Whatever comes first. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#over();
  }
}

/** A form is mostly files; they are not kept, and its fields stand between them. */
function requestBody(body: CapturableBody, contentType: string | null): CapturedBody {
  return body instanceof Uint8Array ? excerptOf(body, contentType) : noteOf(body.size(""), body.contentType);
}
