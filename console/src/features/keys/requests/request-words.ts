import type { KeyRequest } from "@sluice/contract";
import type { Tone } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/keys.ts";
import { emptyDraft, type KeyDraft } from "../key-draft.ts";

const tones: Readonly<Record<KeyRequest["state"], Tone>> = {
  pending: "busy",
  approved: "good",
  collected: "off",
  declined: "bad",
  withdrawn: "off",
  expired: "warn",
};

/** The properties of a status badge. */
export function requestStatus({ state }: KeyRequest) {
  return { status: state, tone: tones[state], label: t(`keys.requests.state.${state}`) };
}

/** The approved settings; before the approval, the requested ones. */
export function settingsOf({ granted, requested }: KeyRequest): KeyRequest["requested"] {
  return granted ?? requested;
}

/** The form of an admin who decides. */
export function draftOfRequest({ requested }: KeyRequest): KeyDraft {
  const { name, group, models, limits, budget, expires_at: expiresAt } = requested;
  return { ...emptyDraft, name, group: group?.id ?? "", models, limits, budget, expiresAt };
}
