import { Failure } from "#core/index.ts";
import { fileContent } from "#files/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { mayReadContent } from "../handlers/callers.ts";
import type { StreamingCall } from "../handlers/calls.ts";
import { visibleFile } from "../handlers/file-handlers.ts";

/** The bytes of a file. Access to callers' content is audited. */
export function fileDownload(dependencies: ConsoleDependencies) {
  const { workspaceFiles, people } = dependencies;
  return async (call: StreamingCall): Promise<Response> => {
    const file = await visibleFile(call, dependencies, call.params["file"] ?? "");
    if (!(await mayReadContent(call, dependencies, file))) {
      throw new Failure("forbidden", "Only the key's owner and admins of the workspace can download the file.");
    }
    const { id, workspaceId } = file;
    const { body, ...answer } = await fileContent(workspaceFiles, file, call.request.headers.get("range"));
    if (call.request.method === "HEAD") {
      body?.cancel().catch(() => undefined);
      return new Response(null, answer);
    }
    await people.note({ action: "download", object: `file file-${id}`, workspaceId }, call.auditSource);
    return new Response(body, answer);
  };
}
