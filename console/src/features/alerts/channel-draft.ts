import type { AlertChannel, AlertChannelKind, AlertTarget, BodyInput } from "@sluice/contract";
import { t } from "../../language/areas/alerts.ts";
import type { Language } from "../../language/index.ts";

/** The state of a channel's form. It keeps the input of all types, so that switching between them loses nothing. */
export interface ChannelDraft {
  readonly name: string;
  /** A slug; null: the installation. */
  readonly workspace: string | null;
  readonly kind: AlertChannelKind;
  readonly to: readonly string[];
  /** Empty for an existing channel: keep the current one, which the gateway does not return. */
  readonly url: string;
  readonly routingKey: string;
  readonly region: "us" | "eu";
  readonly language: Language;
  readonly enabled: boolean;
  /** The type of the existing channel; null: a new one. */
  readonly storedKind: AlertChannelKind | null;
}

export function emptyChannel(workspace: string | null, language: Language): ChannelDraft {
  return {
    ...{ name: "", workspace, kind: "email", to: [], url: "", routingKey: "", region: "us", language },
    ...{ enabled: true, storedKind: null },
  };
}

export function channelDraftOf(channel: AlertChannel): ChannelDraft {
  const { name, kind, language, enabled } = channel;
  const to = kind === "email" ? (channel.destination ?? "").split(", ").filter((each) => each !== "") : [];
  return {
    ...emptyChannel(channel.workspace?.slug ?? null, language),
    ...{ name, kind, to, enabled, storedKind: kind },
    region: channel.destination?.includes(".eu.") === true ? "eu" : "us",
  };
}

/** Without `target`: the current address is kept. */
export function channelBodyOf(draft: ChannelDraft): Omit<BodyInput<"alertChannels.create">, "target"> & {
  readonly target?: AlertTarget;
} {
  const { name, language, enabled } = draft;
  const target = targetOf(draft);
  return { name: name.trim(), language, enabled, ...(target === null ? {} : { target }) };
}

function targetOf({ kind, to, url, routingKey, region }: ChannelDraft): AlertTarget | null {
  if (kind === "email") return { kind, to: [...to] };
  const secret = (kind === "pagerduty" ? routingKey : url).trim();
  if (secret === "") return null;
  return kind === "pagerduty" ? { kind, routing_key: secret, region } : { kind, url: secret };
}

/** Why the form cannot be sent; null if it can. */
export function channelBlockedBy(draft: ChannelDraft): string | null {
  if (draft.name.trim() === "") return t("alerts.form.nameMissing");
  if (draft.kind === "email" && draft.to.length === 0) return t("alerts.channels.addressesMissing");
  if (targetOf(draft) === null && draft.storedKind !== draft.kind) {
    return t(draft.kind === "pagerduty" ? "alerts.channels.keyWrong" : "alerts.channels.urlWrong");
  }
  const faults = Object.values(channelFaultsOf(draft));
  return faults.every((fault) => fault === null) ? null : t("alerts.form.needsAttention");
}

/** The error of a field. */
export function channelFaultsOf({ kind, to, url, routingKey }: ChannelDraft) {
  const wrong = kind === "email" ? to.find((each) => !/^[^\s@]+@[^\s@]+$/.test(each)) : undefined;
  const [address, key] = [url.trim(), routingKey.trim()];
  const hasUrl = kind !== "email" && kind !== "pagerduty";
  return {
    to: wrong === undefined ? null : t("alerts.channels.addressesWrong", { wrong }),
    url: !hasUrl || address === "" || isWebAddress(address) ? null : t("alerts.channels.urlWrong"),
    routingKey:
      kind !== "pagerduty" || key === "" || /^[A-Za-z0-9]{16,64}$/.test(key) ? null : t("alerts.channels.keyWrong"),
  };
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
