import { meets } from "@sluice/contract/words";
import { type ApiKey, Failure, type Principal } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import type { Authenticator } from "#identity/index.ts";
import { oneWorkspace } from "../handlers/one-workspace.ts";
import type { StreamingCall } from "./streaming-call.ts";

export interface AsKeyDependencies {
  readonly controlStore: ControlStore;
  readonly authenticator: Pick<Authenticator, "principalOf">;
  /** The data plane, for a caller that is known already. `target` is path and query from `/v1` on. */
  readonly answerAs: (call: {
    readonly principal: Principal;
    readonly request: Request;
    readonly target: string;
    readonly ip: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly patient: () => void;
  }) => Promise<Response>;
}

/** A call of the data plane by a member as one of their keys, by an admin as any of the workspace's. */
export async function callAsKey(call: StreamingCall, dependencies: AsKeyDependencies): Promise<Response> {
  const workspace = oneWorkspace(call);
  const { request, actor, ip, patient } = call;
  const target = targetBehind.exec(request.url)?.[1];
  if (target === undefined) throw new Failure("not_found", "A path of the data plane must follow: /v1/…");
  const key = await dependencies.controlStore.keyById(call.params["key"] ?? "");
  if (key === null || key.workspaceId !== workspace.id) {
    throw new Failure("not_found", "There is no such key in this workspace.", { param: "key" });
  }
  await refuseForeign(key, call, dependencies);
  const principal = dependencies.authenticator.principalOf(key);
  const tags = { via: "console", user: actor.userId };
  const answer = await dependencies.answerAs({ principal, request, target, ip, tags, patient });
  if (key.allowedIps !== null) answer.headers.append("x-sluice-warnings", addressesNotAsked);
  return answer;
}

/** As it was written: a model's name may hold what looks like steps of a path. */
const targetBehind = /^[a-z]+:\/\/[^/]+\/api\/workspaces\/[^/]+\/keys\/[^/]+\/call(\/v1(?:beta)?\/.*)$/;

/** The list says from where the secret may be used, and no secret was. */
const addressesNotAsked = "allowed_ips of the key was not asked: this call came through the console";

async function refuseForeign(
  key: ApiKey,
  { actor, held }: StreamingCall,
  { controlStore }: AsKeyDependencies,
): Promise<void> {
  if (meets(held, "admin")) return;
  const own = await controlStore.key(key.workspaceId, key.id);
  if (own?.created_by?.id === actor.userId) return;
  throw new Failure(
    "forbidden",
    "Somebody else made this key. An admin of the workspace may use it; you may use your own.",
  );
}
