import type { Endpoint } from "../face.ts";

/** HEAD / : clients warm up their connection with it and do not look at the answer. */
export const root: Endpoint = (_face, { requestId }) =>
  new Response(null, { status: 200, headers: { "x-request-id": requestId } });
