import { readMultipartType } from "#protocols/index.ts";
import type { EndpointProtocol } from "#relay/index.ts";
import { authenticated } from "./authenticated.ts";
import { mayBeLarge } from "./body.ts";
import type { Endpoint } from "./dependencies.ts";
import { refusedUnread, runCall } from "./model-call.ts";
import { type FormFactsReader, readFormBody } from "./spooled-body.ts";

export interface FormRules {
  readonly fields: () => FormFactsReader;
  /** What may be sent, in a sentence for whoever sends something else. */
  readonly wanted: string;
}

/** For endpoints that take either. */
export const jsonOrForm =
  "The body must be JSON or a form: send `content-type: application/json` or `multipart/form-data`.";

/** A call of a model with a form: into the spool as it arrives, and from there upstream with only its model replaced. */
export function formCall(protocol: EndpointProtocol, { fields, wanted }: FormRules): Endpoint {
  return async (dependencies, exchange) => {
    const principal = await authenticated(dependencies, exchange);
    const type = readMultipartType(exchange.request.headers.get("content-type"), wanted);
    exchange.patient();
    if (mayBeLarge(exchange.request)) {
      const refused = await refusedUnread(dependencies, exchange, protocol, principal);
      if (refused !== null) return refused;
    }
    const bodyStartMs = dependencies.clock.monotonic();
    const { facts, form } = await readFormBody(exchange, type, dependencies.spool, principal, fields());
    const bodyWaitMs = dependencies.clock.monotonic() - bodyStartMs;
    try {
      return await runCall(dependencies, exchange, {
        protocol,
        principal,
        facts,
        body: form,
        sent: form,
        marks: null,
        bodyWaitMs,
        query: "",
      });
    } catch (thrown) {
      form.discard();
      throw thrown;
    }
  };
}
