import type { KeyRequest } from "@sluice/contract";
import { alertPage, type ConsoleLanguage } from "@sluice/contract/words";
import { messageOf, oneLine, orNotFound } from "#core/index.ts";
import { bindsKey } from "#identity/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { mailRateLimit } from "../throttle.ts";
import { visiblePerson } from "./callers.ts";
import { applier, type ConsoleCall, type Handlers, oneWorkspace, pageSize } from "./calls.ts";
import { newSecret } from "./key-handlers.ts";

/** Requests for keys. Admins of the workspace decide; only the requester sees the secret of the key. */
export function keyRequestHandlers(dependencies: ConsoleDependencies) {
  const { controlStore } = dependencies;
  const applied = applier(dependencies);
  const mails = mailRateLimit("key-request", dependencies.openTries);
  const withMail = async (request: KeyRequest) => {
    await mailDecision(dependencies, mails, request);
    return request;
  };
  return {
    "keyRequests.list": async (call) => {
      const { cursor = null, limit = pageSize, state } = call.query;
      const requesterId = visiblePerson(call) ?? undefined;
      return await controlStore.keyRequests(
        { workspaceId: call.workspace?.id ?? null, requesterId, state },
        cursor,
        limit,
      );
    },
    "keyRequests.create": (call) =>
      controlStore.createKeyRequest(oneWorkspace(call).id, call.actor.userId, call.body, call.auditSource),
    "keyRequests.show": (call) => requireRequest(call, dependencies),
    "keyRequests.approve": async (call) => {
      const { id, workspace } = await requireRequest(call, dependencies);
      const approval = { approverId: call.actor.userId, changes: call.body };
      return await withMail(await controlStore.approveKeyRequest(workspace.id, id, approval, call.auditSource));
    },
    "keyRequests.decline": async (call) => {
      const { id, workspace } = await requireRequest(call, dependencies);
      const refusal = { deciderId: call.actor.userId, reason: call.body.reason };
      return await withMail(await controlStore.declineKeyRequest(workspace.id, id, refusal, call.auditSource));
    },
    "keyRequests.withdraw": async (call) => {
      const { id, workspace } = await requireRequest(call, dependencies);
      return await controlStore.withdrawKeyRequest(workspace.id, id, call.actor.userId, call.auditSource);
    },
    "keyRequests.collect": async (call) => {
      const { id, workspace } = await requireRequest(call, dependencies);
      const secret = newSecret(dependencies);
      const collected = {
        ...{ userId: call.actor.userId, secret, name: call.body.name ?? null },
        setByAdmins: (granted: NonNullable<KeyRequest["granted"]>) =>
          grantedFields.filter((name) => bindsKey(name, granted)),
      };
      const key = await applied(controlStore.collectKey(workspace.id, id, collected, call.auditSource));
      return { key, secret: secret.reveal() };
    },
  } satisfies Partial<Handlers>;
}

const grantedFields = ["group", "models", "expires_at", "limits", "budget"] as const;

/** Members and viewers find only their own requests. */
async function requireRequest(
  call: Pick<ConsoleCall<"keyRequests.show">, "workspace" | "params" | "actor" | "held">,
  { controlStore }: ConsoleDependencies,
): Promise<KeyRequest> {
  const request = await controlStore.keyRequest(call.workspace?.id ?? null, call.params.request);
  const own = visiblePerson(call);
  const isVisible = own === null || request?.requester.id === own;
  return orNotFound(isVisible ? request : null, "key request in this workspace", "request");
}

/** A failure is only logged: the requester also sees the decision in the console. */
async function mailDecision(
  { mailer, observer, people, consoleUrl }: ConsoleDependencies,
  rate: ReturnType<typeof mailRateLimit>,
  request: KeyRequest,
): Promise<void> {
  const { id, requester, decided_by: decider, workspace } = request;
  if (mailer === null || requester.id === decider?.id) return;
  const base = consoleUrl();
  const page = alertPage({ kind: "key_request", facts: { request: id } }, workspace.slug);
  try {
    await rate.take(workspace.id);
    const language = (await people.user(requester.id))?.language ?? "en";
    const { subject, lines } = texts[language](request, oneLine(decider?.email ?? ""));
    const text = [...lines, "", ...(base === null ? [] : [`${base}/console${page}`, ""])].join("\n");
    await mailer.send({ to: [requester.email], subject, text });
  } catch (thrown) {
    observer.log("warn", "failed to mail the decision on a key request", { request: id, problem: messageOf(thrown) });
  }
}

type Mail = { readonly subject: string; readonly lines: readonly string[] };

const texts: Readonly<Record<ConsoleLanguage, (request: KeyRequest, by: string) => Mail>> = {
  en: ({ requested, granted, reason, workspace, expires_at }, by) =>
    granted === null
      ? {
          subject: `Key request declined: ${oneLine(requested.name)}`,
          lines: [
            `${by} declined your request for the key ${oneLine(requested.name)} in ${workspace.slug}:`,
            "",
            reason ?? "",
          ],
        }
      : {
          subject: `Key request approved: ${oneLine(granted.name)}`,
          lines: [
            `${by} approved your request for the key ${oneLine(granted.name)} in ${workspace.slug}.`,
            `Collect it in the console until ${new Date(expires_at).toUTCString()}. Its secret is shown once.`,
          ],
        },
  "zh-CN": ({ requested, granted, reason, workspace, expires_at }, by) =>
    granted === null
      ? {
          subject: `密钥申请被拒绝：${oneLine(requested.name)}`,
          lines: [`${by} 拒绝了你在 ${workspace.slug} 中对密钥 ${oneLine(requested.name)} 的申请：`, "", reason ?? ""],
        }
      : {
          subject: `密钥申请已批准：${oneLine(granted.name)}`,
          lines: [
            `${by} 批准了你在 ${workspace.slug} 中对密钥 ${oneLine(granted.name)} 的申请。`,
            `请在 ${new Date(expires_at).toUTCString()} 之前到控制台领取。密钥内容只显示一次。`,
          ],
        },
};
