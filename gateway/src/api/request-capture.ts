import { type EndpointId, type Model, type Principal, secretsOf } from "#core/index.ts";
import type { CapturedBody, CapturedRequest, FormBody } from "#ports/index.ts";
import type { Delivery } from "#relay/index.ts";
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

  /** Each read of the caller is one read here, so that a slow reader still slows the upstream. */
  #heard(
    headers: CapturedRequest["responseHeaders"],
    body: ReadableStream<Uint8Array>,
    contentType: string | null,
  ): ReadableStream<Uint8Array> {
    const text = isText(contentType);
    const excerpt = new BodyExcerpt();
    const reader = body.getReader();
    const over = (): void => {
      const heard = excerpt.end();
      this.#tell(headers, text ? heard : noteOf(heard.bytes, contentType));
    };
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const piece = await reader.read();
            if (!piece.done) {
              excerpt.push(piece.value);
              controller.enqueue(piece.value);
              return;
            }
            over();
            controller.close();
          } catch (thrown) {
            over();
            controller.error(thrown);
          }
        },
        cancel(reason) {
          over();
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }

  #tell(responseHeaders: CapturedRequest["responseHeaders"], responseBody: CapturedBody | null): void {
    this.#explainer.capture({ ...this.#request, responseHeaders, responseBody });
  }
}

/** A form is mostly files; they are not kept, and its fields stand between them. */
function requestBody(body: CapturableBody, contentType: string | null): CapturedBody {
  return body instanceof Uint8Array ? excerptOf(body, contentType) : noteOf(body.size(""), body.contentType);
}
