import type { Tone } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/audit.ts";

interface ActionWord {
  readonly label: string;
  readonly tone: Tone;
}

/** What the log knows to happen. A later gateway may know more; those are shown under their own name. */
const words: Readonly<Record<string, ActionWord>> = {
  create: { label: t("audit.created"), tone: "good" },
  update: { label: t("audit.changed"), tone: "busy" },
  remove: { label: t("audit.removed"), tone: "bad" },
  "set-price": { label: t("audit.setPrice"), tone: "busy" },
  rotate: { label: t("audit.newSecret"), tone: "warn" },
  revoke: { label: t("audit.revoked"), tone: "bad" },
  cancel: { label: t("audit.cancelled"), tone: "warn" },
  "take-over": { label: t("audit.takenOverByTheFile"), tone: "off" },
  release: { label: t("audit.releasedByTheFile"), tone: "off" },
  view: { label: t("audit.lookedAt"), tone: "warn" },
  download: { label: t("audit.downloaded"), tone: "warn" },
  "reset-password": { label: t("audit.resetPassword"), tone: "warn" },
  "signed-in": { label: t("audit.signedIn"), tone: "off" },
  "signed-out": { label: t("audit.signedOut"), tone: "off" },
  "sign-in-refused": { label: t("audit.signInRefused"), tone: "warn" },
  "sign-in-locked": { label: t("audit.signInLocked"), tone: "bad" },
  "sessions-ended": { label: t("audit.sessionsEnded"), tone: "warn" },
  "user-created": { label: t("audit.userMade"), tone: "good" },
  "password-changed": { label: t("audit.passwordChanged"), tone: "warn" },
  "passkey-added": { label: t("audit.passkeyAdded"), tone: "warn" },
  "passkey-removed": { label: t("audit.passkeyRemoved"), tone: "warn" },
  "two-factor-enabled": { label: t("audit.twoFactorOn"), tone: "good" },
  "two-factor-disabled": { label: t("audit.twoFactorOff"), tone: "bad" },
  "backup-codes-made": { label: t("audit.backupCodesMade"), tone: "warn" },
};

export function actionWord(action: string): ActionWord {
  return Object.hasOwn(words, action) ? (words[action] ?? unknown(action)) : unknown(action);
}

function unknown(action: string): ActionWord {
  const text = action.replaceAll("-", " ");
  return { label: text.charAt(0).toUpperCase() + text.slice(1), tone: "off" };
}

/** Every known action, and the chosen one too if it is another. */
export function actionChoices(chosen: string) {
  const names = Object.keys(words);
  const all = chosen === "" || names.includes(chosen) ? names : [...names, chosen];
  return all.map((value) => ({ value, label: actionWord(value).label }));
}
