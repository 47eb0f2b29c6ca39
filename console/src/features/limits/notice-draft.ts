import type { BodyInput, Notice } from "@sluice/contract";
import { t } from "../../language/areas/limits.ts";

export const watches = ["all", "workspace", "groups", "group", "keys", "key"] as const;
type Watch = (typeof watches)[number];

/** A notice as its form holds it. Both channels are kept, so that trying the other one loses nothing. */
export interface NoticeDraft {
  readonly name: string;
  readonly percent: readonly number[];
  readonly watch: Watch;
  /** Of the one group or key. */
  readonly scopeId: string | null;
  readonly kind: "webhook" | "email";
  readonly url: string;
  readonly to: readonly string[];
  readonly enabled: boolean;
}

export const emptyNotice: NoticeDraft = Object.freeze({
  name: "",
  percent: [50, 80, 100],
  watch: "all",
  scopeId: null,
  kind: "email",
  url: "",
  to: [],
  enabled: true,
});

export function noticeDraftOf(notice: Notice): NoticeDraft {
  const { channel } = notice;
  return {
    name: notice.name,
    percent: notice.percent,
    watch: watchOf(notice),
    scopeId: notice.scope_id,
    kind: channel.kind,
    url: channel.kind === "webhook" ? channel.url : "",
    to: channel.kind === "email" ? channel.to : [],
    enabled: notice.enabled,
  };
}

function watchOf({ scope, scope_id: id }: Notice): Watch {
  if (scope === null) return "all";
  if (scope === "workspace") return "workspace";
  return id === null ? `${scope}s` : scope;
}

type Body = BodyInput<"notices.create">;

/** `workspaceId`: of the workspace the notice is in. */
export function noticeBodyOf(draft: NoticeDraft, workspaceId: string): Body {
  return {
    name: draft.name.trim(),
    percent: [...draft.percent].sort((one, other) => one - other),
    ...scopeOf(draft, workspaceId),
    channel:
      draft.kind === "webhook" ? { kind: "webhook", url: draft.url.trim() } : { kind: "email", to: [...draft.to] },
    enabled: draft.enabled,
  };
}

function scopeOf({ watch, scopeId }: NoticeDraft, workspaceId: string): Pick<Body, "scope" | "scope_id"> {
  switch (watch) {
    case "all":
      return { scope: null, scope_id: null };
    case "workspace":
      return { scope: "workspace", scope_id: workspaceId };
    case "groups":
      return { scope: "group", scope_id: null };
    case "keys":
      return { scope: "key", scope_id: null };
    default:
      return { scope: watch, scope_id: scopeId };
  }
}

/** Why the form cannot be sent as it stands; null: it can. */
export function noticeBlockedBy(draft: NoticeDraft): string | null {
  if (draft.name.trim() === "") return t("limits.giveItAName");
  if ((draft.watch === "group" || draft.watch === "key") && draft.scopeId === null)
    return t("limits.chooseA", { watch: draft.watch });
  if (draft.percent.length === 0) return "Choose a share.";
  if (draft.kind === "email") return draft.to.length === 0 ? t("limits.giveAnEMailAddress") : null;
  return isWebAddress(draft.url.trim()) ? null : t("limits.giveAnAddressThatBegins");
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
