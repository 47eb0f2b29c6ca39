import type { Endpoint } from "../dependencies.ts";

/** HEAD / : clients warm up their connection with it and do not look at the answer. */
export const root: Endpoint = (_dependencies, { requestId }) =>
  new Response(null, { status: 200, headers: { "x-request-id": requestId } });
