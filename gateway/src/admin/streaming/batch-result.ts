import { Failure } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { visibleBatch } from "../handlers/batch-handlers.ts";
import { mayReadContent } from "../handlers/callers.ts";
import { oneWorkspace, type StreamingCall } from "../handlers/calls.ts";

/** Rows of a batch's result. Access to callers' content is audited. */
export function batchResult(dependencies: ConsoleDependencies) {
  const { batches, people } = dependencies;
  return async (call: StreamingCall): Promise<Response> => {
    const workspace = oneWorkspace(call);
    const batch = await visibleBatch(call, dependencies, call.params["batch"] ?? "");
    if (!(await mayReadContent(call, dependencies, batch))) {
      throw new Failure(
        "forbidden",
        "Only the key's owner and admins of the workspace can read the results of a batch.",
      );
    }
    const part = call.params["part"];
    if (part !== "output" && part !== "errors") throw new Failure("not_found", "The results are `output` or `errors`.");
    const body = await batches.resultPart(batch, part);
    const isHead = call.request.method === "HEAD";
    if (isHead) body.cancel().catch(() => undefined);
    else
      await people.note(
        { action: "download", object: `batch ${batch.id}`, workspaceId: workspace.id },
        call.auditSource,
      );
    return new Response(isHead ? null : body, {
      headers: {
        "content-type": "application/jsonl",
        "content-disposition": `attachment; filename="${batch.id}_${part}.jsonl"`,
        "x-content-type-options": "nosniff",
      },
    });
  };
}
