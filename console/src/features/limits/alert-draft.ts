import type { BodyInput, Notice } from "@sluice/contract";
import { t } from "../../language/areas/limits.ts";

export const watches = ["all", "workspace", "groups", "group", "persons", "person", "keys", "key"] as const;
type Watch = (typeof watches)[number];

/** The state of an alert form. It keeps the input of both channels, so that switching between them loses nothing. */
export interface AlertDraft {
  readonly name: string;
  readonly percent: readonly number[];
  readonly watch: Watch;
  /** Id of the group, person or key. */
  readonly scopeId: string | null;
  readonly kind: "webhook" | "email";
  readonly url: string;
  readonly to: readonly string[];
  readonly enabled: boolean;
}

export const emptyAlert: AlertDraft = Object.freeze({
  name: "",
  percent: [50, 80, 100],
  watch: "all",
  scopeId: null,
  kind: "email",
  url: "",
  to: [],
  enabled: true,
});

export function alertDraftOf(alert: Notice): AlertDraft {
  const { channel } = alert;
  return {
    name: alert.name,
    percent: alert.percent,
    watch: watchOf(alert),
    scopeId: alert.scope_id,
    kind: channel.kind,
    url: channel.kind === "webhook" ? channel.url : "",
    to: channel.kind === "email" ? channel.to : [],
    enabled: alert.enabled,
  };
}

function watchOf({ scope, scope_id: id }: Notice): Watch {
  if (scope === null) return "all";
  if (scope === "workspace") return "workspace";
  return id === null ? `${scope}s` : scope;
}

type Body = BodyInput<"notices.create">;

/** `workspaceId`: the alert's workspace. */
export function alertBodyOf(draft: AlertDraft, workspaceId: string): Body {
  return {
    name: draft.name.trim(),
    percent: [...draft.percent].sort((one, other) => one - other),
    ...scopeOf(draft, workspaceId),
    channel:
      draft.kind === "webhook" ? { kind: "webhook", url: draft.url.trim() } : { kind: "email", to: [...draft.to] },
    enabled: draft.enabled,
  };
}

function scopeOf({ watch, scopeId }: AlertDraft, workspaceId: string): Pick<Body, "scope" | "scope_id"> {
  switch (watch) {
    case "all":
      return { scope: null, scope_id: null };
    case "workspace":
      return { scope: "workspace", scope_id: workspaceId };
    case "groups":
      return { scope: "group", scope_id: null };
    case "persons":
      return { scope: "person", scope_id: null };
    case "keys":
      return { scope: "key", scope_id: null };
    default:
      return { scope: watch, scope_id: scopeId };
  }
}

/** Why the form cannot be sent; null if it can. */
export function alertBlockedBy(draft: AlertDraft): string | null {
  if (draft.name.trim() === "") return t("limits.alert.nameMissing");
  const one = draft.watch === "group" || draft.watch === "person" || draft.watch === "key";
  if (one && draft.scopeId === null) return t("limits.alert.scopeMissing", { scope: draft.watch });
  if (draft.percent.length === 0) return t("limits.alert.thresholdMissing");
  if (draft.kind === "email" && draft.to.length === 0) return t("limits.alert.addressesMissing");
  if (draft.kind === "webhook" && draft.url.trim() === "") return t("limits.alert.urlWrong");
  return Object.values(alertFaultsOf(draft)).every((fault) => fault === null) ? null : t("limits.alert.needsAttention");
}

/** The error of a field. */
export function alertFaultsOf({ kind, to, url }: AlertDraft): Readonly<Record<"to" | "url", string | null>> {
  const address = kind === "email" ? to.find((each) => !/^[^\s@]+@[^\s@]+$/.test(each)) : undefined;
  const text = url.trim();
  return {
    to: address === undefined ? null : t("limits.alert.addressesWrong", { wrong: address }),
    url: kind !== "webhook" || text === "" || isWebAddress(text) ? null : t("limits.alert.urlWrong"),
  };
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
