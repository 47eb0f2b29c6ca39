import type { OutboundRequest } from "#ports/index.ts";
import type { Page } from "./web.ts";

interface LibraryAsset {
  readonly project: string;
  readonly url: string;
  readonly name: string;
  readonly groupId: string;
  status: "Processing" | "Active" | "Failed";
  polls: number;
}

/** An upstream's asset library with the API that reference clients use: one URL, one action per request. */
export class FakeLibrary {
  readonly groups = new Map<string, { readonly project: string; readonly name: string }>();
  readonly assets = new Map<string, LibraryAsset>();
  readonly actions: string[] = [];
  /** How many polls an asset stays Processing, and its status afterwards. */
  polls = 1;
  verdict: "Active" | "Failed" = "Active";
  /** Errors returned instead of an action, by its name. */
  readonly refusals = new Map<string, { readonly status: number; readonly code: string }>();
  #made = 0;

  readonly page: Page = (request) => {
    const action = new URL(request.url).searchParams.get("Action") ?? "";
    this.actions.push(action);
    const refusal = this.refusals.get(action);
    if (refusal !== undefined) return refused(action, refusal.status, refusal.code);
    return this.#act(action, bodyOf(request));
  };

  #act(action: string, body: Record<string, string>): Response {
    const project = body["ProjectName"] ?? "default";
    const id = body["Id"] ?? "";
    if (action === "CreateAssetGroup") {
      const made = `group-${++this.#made}`;
      this.groups.set(made, { project, name: body["Name"] ?? "" });
      return good(action, { Id: made });
    }
    if (action === "CreateAsset") {
      const groupId = body["GroupId"] ?? "";
      if (this.groups.get(groupId)?.project !== project) return refused(action, 404, "NotFound.group_id");
      const made = `asset-${++this.#made}`;
      const status = this.polls === 0 ? this.verdict : "Processing";
      this.assets.set(made, { project, url: body["URL"] ?? "", name: body["Name"] ?? "", groupId, status, polls: 0 });
      return good(action, { Id: made });
    }
    if (action === "DeleteAssetGroup") {
      if (!this.groups.delete(id)) return refused(action, 404, "NotFound.group_id");
      for (const [assetId, asset] of this.assets) if (asset.groupId === id) this.assets.delete(assetId);
      return good(action, {});
    }
    const asset = this.assets.get(id);
    if (asset === undefined || asset.project !== project) return refused(action, 404, "NotFound.asset_id");
    if (action === "DeleteAsset") {
      this.assets.delete(id);
      return good(action, {});
    }
    asset.polls++;
    if (asset.polls >= this.polls) asset.status = this.verdict;
    const failed = { Code: "InputImageSensitiveContentDetected", Message: "No." };
    return good(action, {
      Id: id,
      Status: asset.status,
      URL: `https://library.example/${id}`,
      ...(asset.status === "Failed" ? { Error: failed } : {}),
    });
  }
}

function bodyOf({ body }: OutboundRequest): Record<string, string> {
  return body instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(body)) : {};
}

function good(Action: string, Result: object): Response {
  return Response.json({ ResponseMetadata: { RequestId: "r", Action, Version: "2024-01-01" }, Result });
}

function refused(Action: string, status: number, Code: string): Response {
  const refusal = { CodeN: 1, Code, Message: "secret words of account 4711" };
  return Response.json({ ResponseMetadata: { RequestId: "r", Action, Error: refusal } }, { status });
}
