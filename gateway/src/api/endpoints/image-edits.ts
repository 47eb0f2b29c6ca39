import { readMultipartType } from "#protocols/index.ts";
import { authenticated } from "../authenticated.ts";
import { mayBeLarge } from "../body.ts";
import type { Endpoint } from "../face.ts";
import { readFormBody } from "../form-body-reader.ts";
import { modelCall, refusedUnread, runCall } from "../model-call.ts";
import { imageEditsSpeech } from "../speeches.ts";

/** POST /v1/images/edits, with a form or a JSON body. */
export const imageEdits: Endpoint = (face, exchange) => {
  const isForm = /^multipart\//i.test(exchange.request.headers.get("content-type") ?? "");
  return isForm ? formEdits(face, exchange) : jsonEdits(face, exchange);
};

const jsonEdits = modelCall({ speech: imageEditsSpeech, takesAssets: true });

const formEdits: Endpoint = async (face, exchange) => {
  const principal = await authenticated(face, exchange);
  const type = readMultipartType(exchange.request.headers.get("content-type"));
  exchange.patient();
  if (mayBeLarge(exchange.request)) {
    const refused = await refusedUnread(face, exchange, imageEditsSpeech, principal);
    if (refused !== null) return refused;
  }
  const bodyStartMs = face.clock.monotonic();
  const { facts, form } = await readFormBody(exchange.request, type, face.spool, exchange.bodies);
  const bodyWaitMs = face.clock.monotonic() - bodyStartMs;
  try {
    return await runCall(face, exchange, {
      speech: imageEditsSpeech,
      principal,
      facts,
      body: form,
      sent: form,
      seals: null,
      bodyWaitMs,
      query: "",
    });
  } catch (thrown) {
    form.discard();
    throw thrown;
  }
};
