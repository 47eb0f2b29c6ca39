import { abortSignalOf, type Principal } from "#core/index.ts";
import type { ContentOptions } from "#tasks/index.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";

/** The bytes of a video or of a picture of it, or the part of them that is asked for, as its caller reads them. */
export async function sendVideo(
  dependencies: ApiDependencies,
  exchange: Exchange,
  principal: Principal,
  { id, still }: { readonly id: string } & Pick<ContentOptions, "still">,
): Promise<Response> {
  const { request, requestId } = exchange;
  exchange.patient();
  const range = request.headers.get("range");
  const content = await dependencies.videos.content(
    principal.workspace.id,
    id,
    { range, still },
    abortSignalOf(request.signal),
  );
  // Of a HEAD only the headers are wanted: the bytes are let go of unread.
  const wanted = request.method !== "HEAD";
  if (!wanted) await content.body?.cancel();
  return new Response(wanted ? content.body : null, {
    status: content.status,
    headers: { ...content.headers, "x-request-id": requestId },
  });
}
